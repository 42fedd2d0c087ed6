/** @file One call of evaluate: a session that only reads, with the newest checkpoint, over the data. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { BatchSource } from '../../data/batch-source.js';
import type { MetricName } from '../../metrics/create-metric.js';
import { type EvaluatedModel, type Evaluation, evaluate } from '../../metrics/evaluate.js';
import { untilAborted, untilEnd } from './held-out.js';
import type { Reading } from './reading-sessions.js';

export interface EstimatorEvaluateOptions {
  /** Batches at the most. Default: one pass over the data. */
  readonly steps?: number | null;
  /** Prefix of a checkpoint. Default: the newest one. */
  readonly checkpoint?: string;
  /** Default: that of the estimator. */
  readonly batchSize?: number;
  /** Metrics of the first head, besides those of its kind. */
  readonly metrics?: readonly MetricName[];
  /** The feature that says which group an example is in, for `gauc` and the like. */
  readonly groupBy?: string;
  /** Ends the evaluation with ML_CANCELLED when it is aborted. */
  readonly signal?: AbortSignal;
}

export interface EvaluateResult {
  readonly loss: number;
  /**
   * By name: `auc` of probabilities, `mse`, `rmse` and `mae` of numbers, `accuracy` of classes, and those asked for; of
   * several heads with their names: `click_auc`. Null where one is undefined, as an AUC of one class is.
   */
  readonly metrics: Readonly<Record<string, number | null>>;
  /** Of the checkpoint. */
  readonly globalStep: number;
  readonly examples: number;
  readonly checkpoint: string;
}

const WHERE = 'Estimator.evaluate';

export function checkEvaluateCall(options: EstimatorEvaluateOptions): void {
  checkOptions(WHERE, options, ['steps', 'checkpoint', 'batchSize', 'metrics', 'groupBy', 'signal']);
  const { steps } = options;
  if (steps == null || (Number.isInteger(steps) && steps >= 1)) return;
  const reason = `steps is a number of batches from 1 on, not ${String(steps)}`;
  throw new MonolithError('ML_OPTION', { where: WHERE, option: 'steps', reason });
}

export async function runEvaluateCall(
  { session, model, step }: Reading,
  source: BatchSource,
  options: EstimatorEvaluateOptions & { readonly checkpoint: string; readonly batchSize: number },
): Promise<EvaluateResult> {
  const { steps, metrics, groupBy, signal, checkpoint, batchSize } = options;
  const input = await source.open(session, { mode: 'eval', batchSize, epochs: 1 });
  try {
    const all = untilAborted('an evaluation', untilEnd(input), signal);
    const batches = limited(all, steps ?? Number.POSITIVE_INFINITY);
    const found: Evaluation & { readonly metrics?: Record<string, number | null> } = await evaluate<MetricName>(
      session,
      model as EvaluatedModel,
      batches,
      { ...(metrics && { metrics }), ...(groupBy !== undefined && { groupBy }) },
    );
    const { loss, heads, examples } = found;
    return { loss, metrics: { ...heads, ...found.metrics }, globalStep: step ?? 0, examples, checkpoint };
  } finally {
    await input.close?.();
  }
}

async function* limited(batches: AsyncIterable<number>, count: number): AsyncGenerator<number, void, undefined> {
  let left = count;
  for await (const batch of batches) {
    yield batch;
    if (--left === 0) return;
  }
}
