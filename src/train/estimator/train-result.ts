/** @file What a call of train comes to. */
import type { EvaluationReport } from '../hooks/evaluation.js';

/**
 * - `steps`, `until`, `epochs`: what was asked for is done.
 * - `end of data`: the data ended before, as a stream does.
 * - `early stop`: evaluations no longer got better.
 * - `signal`: it was told to stop.
 * - `hook`: a hook stopped it.
 */
export type StoppedBy = 'steps' | 'until' | 'epochs' | 'end of data' | 'early stop' | 'signal' | 'hook';

/** The best evaluation of a training. */
export interface BestEvaluation extends EvaluationReport {
  /** Prefix of the checkpoint of it; null when none was kept. */
  readonly checkpoint: string | null;
}

export interface TrainResult {
  /** Global step at the end, and at the start. */
  readonly step: number;
  readonly startStep: number;
  /** Of the last batch; null when no step was trained. */
  readonly loss: number | null;
  /** From the first step to the last, evaluations and saves on the way included. */
  readonly seconds: number;
  readonly examples: number;
  readonly examplesPerSecond: number;
  /** The newest checkpoint. */
  readonly checkpoint: string | null;
  readonly stoppedBy: StoppedBy;
  /** The last evaluation; null without evaluations. */
  readonly evaluation: EvaluationReport | null;
  readonly best: BestEvaluation | null;
}
