/** @file What a run is given, and what it ends with. */
import type { DoneEvent, TestEvent } from '../../recipe/run-event.js';
import type { TrainAsks } from '../../train/hooks/train-asks.js';
import type { AskedTrace } from './asked-trace.js';
import type { LearnFlags } from './learn-options.js';
import type { RunLog } from './run-log.js';

/** A run under way. */
export interface RunParts {
  readonly flags: LearnFlags;
  /** Where its events go. */
  readonly run: RunLog;
  /** Aborted when it is to stop. */
  readonly signal: AbortSignal;
  /** What is asked of it while it runs. */
  readonly asks: TrainAsks;
  readonly askedTrace: AskedTrace;
}

/** What a run ends with. */
export interface RunEnd {
  readonly done: DoneEvent;
  readonly test: TestEvent | undefined;
}
