/**
 * @file A signal that shows what a process is doing: the stack of main, and what every worker thread does
 * (native_training/signal_utils).
 *
 * Handlers of signals in JavaScript run on the main thread, between two turns of its event loop: the stack is that of
 * the handler, and what main waits for is listed beside it. A main thread that is stuck in one turn prints nothing;
 * that takes the inspector, `kill -USR1` and `node inspect -p PID`. The reference has SIGUSR1 for its dump; Node.js
 * opens the inspector on it, so SIGUSR2 is the default here, and SIGUSR1 is for processes that were started with
 * `--disable-sigusr1`, by a Node.js that lets it through then (base/sigusr1.ts).
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { hasSigusr1, sigusr1Trouble } from '../base/sigusr1.js';
import { liveTraces } from '../trace/live-traces.js';
import type { ThreadActivity } from '../trace/sample-threads.js';

export type DumpSignal = 'SIGUSR1' | 'SIGUSR2';

export interface DumpOptions {
  /** Default: SIGUSR2. */
  readonly signal?: DumpSignal;
  /** How long threads are watched. Default: 100. */
  readonly sampleMs?: number;
  /** Takes the text. Default: standard error. */
  readonly write?: (text: string) => void;
}

const SAMPLE_MS = 100;
const SHARE_MIN = 0.005;

/**
 * Prints what the process is doing whenever the signal comes; call what it returns to end that. Handlers that are there
 * stay, and are called too. ML_SIGNAL for SIGUSR1 where the inspector has it.
 *
 * ```ts
 * const remove = addDumpHandler({ signal: 'SIGUSR2' });
 * ```
 */
export function addDumpHandler(given: DumpOptions = {}): () => void {
  const { signal = 'SIGUSR2', ...options } = checkOptions('addDumpHandler', given, ['signal', 'sampleMs', 'write']);
  if (process.platform === 'win32') return () => undefined;
  const reason = signal === 'SIGUSR1' ? sigusr1Trouble() : undefined;
  if (reason !== undefined) throw new MonolithError('ML_SIGNAL', { signal, reason }, { hint: 'take SIGUSR2' });
  const handler = (received: NodeJS.Signals): void => void printStackTrace(received, options);
  process.on(signal, handler);
  return () => void process.off(signal, handler);
}

/** The reference's name: SIGUSR1 where Node.js leaves it alone, SIGUSR2 elsewhere. The signal it took. */
export function addSiguser1Handler(options: Omit<DumpOptions, 'signal'> = {}): DumpSignal {
  const signal = hasSigusr1() ? 'SIGUSR1' : 'SIGUSR2';
  addDumpHandler({ ...options, signal });
  return signal;
}

/** Prints what the process is doing, as a handler of a signal does. */
export async function printStackTrace(signal: string, options: Omit<DumpOptions, 'signal'> = {}): Promise<void> {
  const { write = (text: string) => void process.stderr.write(text), sampleMs = SAMPLE_MS } = options;
  write(await describeProcess(signal, sampleMs, printStackTrace));
}

/** The text of a dump. Frames above `above` are left out of the stack. */
export async function describeProcess(
  cause: string,
  sampleMs = SAMPLE_MS,
  above: (...args: never[]) => unknown = describeProcess,
): Promise<string> {
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, above);
  const lines = [`${cause}: process ${process.pid}, ${new Date().toISOString()}`, 'main thread'];
  lines.push(...(holder.stack ?? '').split('\n').slice(1));
  lines.push(`    waits for ${resources()}`);
  const traces = liveTraces();
  const { sampleThreads } = await import('../trace/sample-threads.js');
  if (traces.length === 0) lines.push('threads: no session that is open has trace rings (traceEvents)');
  for (const [index, trace] of traces.entries()) {
    const of = traces.length === 1 ? '' : ` of session ${index + 1} of ${traces.length}`;
    lines.push(`threads${of}, watched for ${sampleMs} ms`);
    const activities = await sampleThreads(trace, sampleMs);
    const width = Math.max(...activities.map(({ thread }) => thread.length));
    lines.push(...activities.map((one) => `    ${one.thread.padEnd(width)}  ${activityText(one)}`));
  }
  return `${lines.join('\n')}\n`;
}

function activityText({ shares, last }: ThreadActivity): string {
  const shown = shares.filter(({ share }) => share >= SHARE_MIN);
  if (shown.length > 0) return shown.map(({ name, share }) => `${name} ${(share * 100).toFixed(0)}%`).join(', ');
  if (last !== null) return `nothing ended meanwhile; the last was ${last}`;
  return 'nothing ended meanwhile: it waits, or is in the middle of something';
}

/** What keeps the event loop busy, by kind. */
function resources(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts.size === 0 ? 'nothing' : [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ');
}
