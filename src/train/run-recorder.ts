/**
 * @file The record of a training as the estimator sees it: an interface that is filled elsewhere, since reports come
 * after training in the order of folders.
 */
import { MonolithError } from '../base/errors.js';
import type { EstimatorEvent } from './estimator/estimator-event.js';
import type { TrainResult } from './estimator/train-result.js';

/** Keeps what happens in a training, and makes a report of it at the end. */
export interface RunRecorder {
  keep(event: EstimatorEvent): void;
  /** The training came to its end. */
  end(result: TrainResult): void;
  /** It did not. */
  fail(error: unknown): void;
  /** Writes the report, in any case. */
  close(): void;
}

export interface RecorderRequest {
  readonly dir: string;
  /** Options of the estimator and of the call that can be written down. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Told of what cannot be written. */
  readonly onTrouble: (error: MonolithError) => void;
}

type OpenRecorder = (request: RecorderRequest) => RunRecorder;

let load: (() => Promise<OpenRecorder>) | undefined;

/** Says who records. */
export function provideRecorder(loading: () => Promise<OpenRecorder>): void {
  load = loading;
}

export async function openRecorder(request: RecorderRequest): Promise<RunRecorder> {
  if (load === undefined) throw new MonolithError('ML_INTERNAL', { reason: 'nobody records: load report/provide.js' });
  return (await load())(request);
}
