/** @file Keys of a run on a terminal: save, evaluate, trace, stop, help. */
import type { TrainAsks } from '../../train/hooks/train-asks.js';
import type { CliIo } from '../io.js';
import type { ProgressMode, ProgressReporter } from '../progress.js';
import type { AskedTrace } from './asked-trace.js';
import type { RunLog } from './run-log.js';

const HELP = 'keys: s save, e evaluate, t trace 200 steps, q save and stop, h this help';

export interface RunKeys {
  readonly io: CliIo;
  readonly mode: ProgressMode;
  readonly reporter: ProgressReporter;
  readonly run: RunLog;
  readonly asks: TrainAsks;
  readonly trace: AskedTrace;
  readonly stop: () => void;
}

/** Listens until the returned function is called; what is asked for is an event of the run. */
export function listenForRun({ io, mode, reporter, run, asks, trace, stop }: RunKeys): () => void {
  if (mode !== 'bar') return () => undefined;
  const ask = (what: string, act: () => void) => {
    act();
    run.tell({ event: 'asked', step: run.step, what });
  };
  const keys: Readonly<Record<string, () => void>> = {
    s: () => ask('save', () => asks.ask('save')),
    e: () => ask('evaluate', () => asks.ask('evaluate')),
    t: () => ask('trace', () => trace.ask()),
    q: () => ask('stop', stop),
    h: () => reporter.note(HELP),
    '?': () => reporter.note(HELP),
  };
  const listening = io.onKey((key) => keys[key.toLowerCase()]?.());
  if (listening !== null) reporter.note('press h for keys');
  return listening ?? (() => undefined);
}
