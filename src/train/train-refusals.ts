/** @file The reasons for which LocalTrainer does not train, or not any further. */
import { MonolithError } from '../base/errors.js';
import type { ModelSpec } from './model-spec.js';

const refusal = (reason: string, hint: string) =>
  new MonolithError('ML_CANCELLED', { what: 'training', reason }, { hint });

export const underWay = () => refusal('it is under way', 'await the call of train before');

export const failedBefore = () =>
  refusal('it failed before', 'make a new trainer: it goes on from the newest checkpoint');

export const lastStepReached = (lastStep: number) =>
  refusal(`step ${lastStep}, its last one, is reached`, 'steps counts those of all calls: give more, or until');

/** The stop rule counts global steps: a model that does not would train for ever. */
export function uncounted(model: ModelSpec): MonolithError {
  return new MonolithError(
    'ML_GRAPH',
    { op: model.trainOp.name, reason: 'a run of it does not count the global step' },
    { hint: 'make increment(globalStep(graph)) a part of the train op' },
  );
}

/** Threads work on the next batches of the input while a step runs. */
export function tooFewAhead(batchesAhead: number, prefetch: number): MonolithError {
  return new MonolithError(
    'ML_FLAG',
    {
      flag: 'prefetch',
      reason: `the input keeps ${batchesAhead} of its batches, and ${prefetch + 1} are needed at once`,
    },
    { hint: 'give the input batchesAhead, or a smaller prefetch' },
  );
}
