/** @file A call of train whose events are kept, and reported, where its estimator asks for it. */
import type { MonolithError } from '../../base/errors.js';
import { openRecorder, type RunRecorder } from '../run-recorder.js';
import type { EstimatorEvent } from './estimator-event.js';
import { runTrainCall, type TrainParts } from './train-call.js';
import type { TrainOptions } from './train-options.js';
import type { TrainResult } from './train-result.js';

/** `asked` is what the caller gave, of which the record keeps what can be written down. */
export async function runRecordedCall(parts: TrainParts, asked: TrainOptions): Promise<TrainResult> {
  const { options } = parts;
  if (options.report !== true) return runTrainCall(parts);
  const recorder = await recorderOf(parts, asked);
  const log = (event: EstimatorEvent): void => {
    recorder.keep(event);
    options.log?.(event);
  };
  try {
    const result = await runTrainCall({ ...parts, options: { ...options, log } });
    recorder.end(result);
    return result;
  } catch (error) {
    recorder.fail(error);
    throw error;
  } finally {
    recorder.close();
  }
}

function recorderOf({ options, modelDir }: TrainParts, asked: TrainOptions): Promise<RunRecorder> {
  const isPlain = ([, value]: [string, unknown]) => ['number', 'string', 'boolean'].includes(typeof value);
  const settings = Object.fromEntries(Object.entries({ ...options, ...asked }).filter(isPlain));
  const onTrouble = ({ code, message }: MonolithError) => options.log?.({ event: 'warning', code, message });
  return openRecorder({ dir: modelDir, settings, onTrouble });
}
