/** @file Loss, AUC and other metrics of a model over batches in shared memory. */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { Tensor } from '../graph/graph.js';
import { BATCH } from '../memory/batch.js';
import type { Session } from '../runtime/session/session.js';
import { coreOf } from '../runtime/session/session-handle.js';
import { createMetric, type MetricName } from './create-metric.js';
import { groupKeysOf } from './group-keys.js';
import { type EvaluatedHead, HeadMetrics, type MetricValues } from './head-metrics.js';

export interface Evaluation {
  /** Of the first head; null when all labels are of one class, and for heads that predict no probability. */
  readonly auc: number | null;
  readonly loss: number;
  readonly examples: number;
  /** The metrics of each head; with several, by its name: `click_auc`. */
  readonly heads: MetricValues;
}

/** The tensors of a model that an evaluation is made of. */
export interface EvaluatedModel {
  readonly label: Tensor;
  /** Probability per example. */
  readonly pred: Tensor;
  /** Mean loss of the batch. */
  readonly loss: Tensor;
  /** What it predicts. Default: the probability that `pred` is. */
  readonly heads?: readonly EvaluatedHead[];
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
export async function prepareEvaluation(session: Session, model: EvaluatedModel): Promise<void> {
  await session.prepare(fetchesOf(model), EVALUATION);
}

/**
 * How good the predictions of a model are over `batches`, which are addresses. `metrics` are those of the first head.
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
  const heads = new HeadMetrics(headsOf(model));
  const metrics = (options.metrics ?? []).map((name) => [name, createMetric(name)] as const);
  const { weights } = options;
  const fetches = [model.loss, ...heads.fetches, ...(weights === undefined ? [] : [weights])];
  let [lossSum, examples] = [0, 0];
  for await (const batch of batches) {
    const [loss, ...values] = (await session.run(fetches, batch, EVALUATION)) as [number, ...Float32Array[]];
    const weight = weights === undefined ? undefined : values.pop();
    heads.update(values);
    const [pred, label] = values as [Float32Array, Float32Array];
    const groups = options.groupBy === undefined ? undefined : groupKeysOf(coreOf(session), batch, options.groupBy);
    for (const [, metric] of metrics) metric.update(label, pred, weight, groups);
    const rows = coreOf(session).views.u32[batch / 4 + BATCH.rows]!;
    lossSum += loss * rows;
    examples += rows;
  }
  if (examples === 0) throw new MonolithError('ML_DATASET', { reason: 'there are no examples to evaluate on' });
  const results = heads.results();
  const auc = results.auc ?? results[`${headsOf(model)[0]?.name}_auc`] ?? null;
  const found = { auc, loss: lossSum / examples, examples, heads: results };
  if (metrics.length === 0) return found as Awaited<ReturnType<typeof evaluate<Name>>>;
  const named = Object.fromEntries(metrics.map(([name, metric]) => [name, metric.result()]));
  // That there are metrics is what Name says, which the compiler cannot follow into a condition.
  return { ...found, metrics: named } as unknown as Awaited<ReturnType<typeof evaluate<Name>>>;
}

function fetchesOf(model: EvaluatedModel) {
  return [model.loss, ...new HeadMetrics(headsOf(model)).fetches];
}

/** Those that have a label: a task may evaluate its loss alone. */
function headsOf({ label, pred, heads = [] }: EvaluatedModel): readonly EvaluatedHead[] {
  const all: readonly Partial<EvaluatedHead>[] =
    heads.length > 0 ? heads : [{ name: 'pred', kind: 'own', label, pred }];
  return all.filter((head): head is EvaluatedHead => head.label !== undefined);
}
