/** @file Loss, AUC and other metrics of a model over batches in shared memory. */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { Tensor } from '../graph/graph.js';
import type { Session } from '../runtime/session/session.js';
import { coreOf } from '../runtime/session/session-core.js';
import { createMetric, type MetricName } from './create-metric.js';
import { ExactAuc } from './exact-auc.js';
import { groupKeysOf } from './group-keys.js';

export interface Evaluation {
  /** Null when all labels are of one class. */
  readonly auc: number | null;
  readonly loss: number;
  readonly examples: number;
}

/** The tensors of a model that an evaluation is made of. */
export interface EvaluatedModel {
  readonly label: Tensor;
  /** Probability per example. */
  readonly pred: Tensor;
  /** Mean loss of the batch. */
  readonly loss: Tensor;
}

export interface EvaluateOptions<Name extends MetricName = MetricName> {
  /** Further metrics, by name. */
  readonly metrics?: readonly Name[];
  /** A weight per example for those metrics. `auc` and `loss` count every example once. */
  readonly weights?: Tensor;
  /** The feed that says which group an example is in: its first id, or its float. */
  readonly groupBy?: string;
}

const EVALUATION = { mode: 'eval' } as const;

/** Makes the program of `evaluate`, so that want of memory shows before training and not after it. */
export function prepareEvaluation(session: Session, model: EvaluatedModel): void {
  session.prepare(fetchesOf(model), EVALUATION);
}

/**
 * Runs the forward part over `batches` (addresses).
 *
 * ```ts
 * const { auc, metrics } = await evaluate(session, model, batches, { metrics: ['logLoss', 'gauc'], groupBy: 'user' });
 * ```
 */
export async function evaluate<Name extends MetricName = never>(
  session: Session,
  model: EvaluatedModel,
  batches: Iterable<number> | AsyncIterable<number>,
  options: EvaluateOptions<Name> = {},
): Promise<Evaluation & ([Name] extends [never] ? unknown : { readonly metrics: Record<Name, number | null> })> {
  checkOptions('evaluate', options, ['metrics', 'weights', 'groupBy']);
  const area = new ExactAuc();
  const metrics = (options.metrics ?? []).map((name) => [name, createMetric(name)] as const);
  const fetches = [...fetchesOf(model), ...(options.weights === undefined ? [] : [options.weights])];
  let [lossSum, examples] = [0, 0];
  for await (const batch of batches) {
    const values = await session.run(fetches, batch, EVALUATION);
    const [pred, label, loss, weights] = values as [Float32Array, Float32Array, number, Float32Array | undefined];
    area.update(label, pred);
    const groups = options.groupBy === undefined ? undefined : groupKeysOf(coreOf(session), batch, options.groupBy);
    for (const [, metric] of metrics) metric.update(label, pred, weights, groups);
    lossSum += loss * pred.length;
    examples += pred.length;
  }
  if (examples === 0) throw new MonolithError('ML_DATASET', { reason: 'there are no examples to evaluate on' });
  const found = { auc: area.result(), loss: lossSum / examples, examples };
  if (metrics.length === 0) return found as Awaited<ReturnType<typeof evaluate<Name>>>;
  const named = Object.fromEntries(metrics.map(([name, metric]) => [name, metric.result()]));
  // That there are metrics is what Name says, which the compiler cannot follow into a condition.
  return { ...found, metrics: named } as unknown as Awaited<ReturnType<typeof evaluate<Name>>>;
}

function fetchesOf(model: EvaluatedModel) {
  return [model.pred, model.label, model.loss];
}
