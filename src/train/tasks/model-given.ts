/** @file What estimators and runners take for a task: its parameters, or a model, which is its own. */
import { MonolithError } from '../../base/errors.js';
import { Params } from '../../base/params/params.js';
import type { Mode } from '../task-params.js';
import { NativeTask, type NativeTaskParams, type TaskParams } from './native-task.js';

/** Parameters that make a task, or a MonolithBaseModel. */
export type ModelGiven = TaskParams;

/** The parameters of what was given. */
export function paramsOf(model: ModelGiven): NativeTaskParams {
  if (model instanceof NativeTask) return model.p;
  if (model instanceof Params) return model as TaskParams & NativeTaskParams;
  const hint = 'give what params() of its class returns, or a MonolithBaseModel';
  throw new MonolithError('ML_TASK', { reason: 'what was given has no parameters of a task' }, { hint });
}

/**
 * A copy of parameters in a mode: what one call sets is not seen by the next. A model is its own parameters, so it is
 * in that mode until `release`.
 */
export function inMode(
  model: ModelGiven,
  mode: Mode,
  batchSize?: number,
): { readonly model: ModelGiven; release(): void } {
  const params = paramsOf(model);
  if (!(model instanceof NativeTask)) {
    const copy = params.copy();
    copy.mode = mode;
    const { train } = copy as NativeTaskParams;
    if (batchSize !== undefined) train.per_replica_batch_size = batchSize;
    return { model: copy as NativeTaskParams & TaskParams, release: () => undefined };
  }
  const { mode: before } = params;
  params.mode = mode;
  const { per_replica_batch_size: batchBefore } = params.train;
  if (batchSize !== undefined) params.train.per_replica_batch_size = batchSize;
  const release = () => {
    params.mode = before;
    params.train.per_replica_batch_size = batchBefore;
  };
  return { model, release };
}
