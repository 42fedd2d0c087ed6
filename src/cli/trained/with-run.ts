/** @file What the commands share that go on from a run: it is opened, scored, closed; Ctrl-C ends them. */
import { MonolithError } from '../../base/errors.js';
import { type OpenRun, openRun, settingOf } from '../../trained/open-run.js';
import type { RowsAsked } from '../../trained/run-rows.js';
import { Scorer } from '../../trained/scorer.js';
import type { CliIo } from '../io.js';
import { checkThere, fileOptionsOf } from '../learn/table-run.js';
import { EXIT_DONE } from '../report.js';
import { SIGNAL_EXIT } from '../stop-signals.js';
import type { EvalFlags } from './run-options.js';

export type RunFlags = Omit<EvalFlags, 'data'> & { readonly data: string | null };

export interface RunAtHand {
  readonly run: OpenRun;
  readonly scorer: Scorer;
  /** How files are read: what the flags say. */
  readonly asked: RowsAsked;
  readonly signal: AbortSignal;
}

/** Runs `body` with the run opened; a signal ends it with the shell's code, and nothing is left half written. */
export async function withRun(
  dir: string,
  flags: RunFlags,
  io: CliIo,
  body: (at: RunAtHand) => Promise<number>,
): Promise<number> {
  return stoppable(io, async (signal) => {
    const run = await runOf(dir, flags);
    const scorer = await scorerOf(run, flags, signal);
    try {
      return await body({ run, scorer, asked: askedOf(flags, signal), signal });
    } finally {
      await scorer.close();
    }
  });
}

/** The folder opened, with the module that the flags name. */
export async function runOf(dir: string, { checkpoint, module, with: sides }: RunFlags): Promise<OpenRun> {
  if (sides !== null && module === null) {
    const reason = 'is for a run of a module';
    throw new MonolithError('ML_FLAG', { flag: '--with', reason }, { hint: 'a run of a table has kept its own' });
  }
  const own = module === null ? undefined : await (await import('./open-own.js')).openOwn(dir, module, sides);
  return openRun(dir, checkpoint ?? undefined, own);
}

export function scorerOf(run: OpenRun, { threads, backend }: RunFlags, signal: AbortSignal): Promise<Scorer> {
  const tableMemory = settingOf(run, 'tableMemory');
  const memory = typeof tableMemory === 'number' ? { tableMemory } : {};
  return Scorer.open(run.model, run.checkpoint, { threads: threads ?? undefined, backend, signal, ...memory });
}

/** What the flags say of the files, and nothing of what they do not. */
export function askedOf(flags: RunFlags, signal: AbortSignal): RowsAsked {
  if (flags.data !== null) checkThere(flags.data);
  const { badRows, badRowsMax, ...options } = fileOptionsOf(flags);
  const skips = badRows === 'skip' ? { badRows } : {};
  return { ...options, ...skips, badRowsMax: badRowsMax ?? 0, data: flags.data ?? undefined, signal };
}

/** Runs `body` with a signal that Ctrl-C aborts. */
export async function stoppable(io: CliIo, body: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const abort = new AbortController();
  let code = EXIT_DONE;
  const stop = io.onSignal((signal) => {
    code = SIGNAL_EXIT[signal];
    if (abort.signal.aborted) io.exit(code);
    abort.abort(signal);
  });
  // Who reads no more of the output has had enough: that is how `| head` ends. A full disk is an error.
  const lost: MonolithError[] = [];
  const stopOutput = io.onBrokenOutput((error) => {
    if (error !== undefined) lost.push(error);
    abort.abort('output');
  });
  try {
    const done = await body(abort.signal);
    if (lost.length > 0) throw lost[0]!;
    return done;
  } catch (error) {
    if (lost.length > 0) throw lost[0]!;
    const isStop = abort.signal.aborted && (!(error instanceof MonolithError) || error.code === 'ML_CANCELLED');
    if (!isStop) throw error;
    return code;
  } finally {
    stop();
    stopOutput();
  }
}
