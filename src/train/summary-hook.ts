/** @file The hook that writes TensorBoard summaries of a training in its model directory. */
import type { Tensor } from '../graph/graph.js';
import type { ModelHead } from '../model/heads.js';
import { gradientSummaries } from '../summary/gradient-summaries.js';
import { SUMMARIES, scalar } from '../summary/summary-ops.js';
import type { SummaryHead } from './hooks/head-metrics.js';
import { SummarySaverHook, type SummarySaverOptions } from './hooks/summary-saver.js';
import type { ModelSpec } from './model-spec.js';

export interface SummaryHookOptions extends Pick<SummarySaverOptions, 'dir' | 'everySteps' | 'batchSize' | 'clock'> {
  /** Norms and values of each variable and gradient too. Default: false. */
  readonly each?: boolean;
}

const LOSS = 'loss';

/**
 * Loss, `<head>_auc` and `<head>_mse`, norms of gradients, speed, rows of tables, and the summaries of the model
 * itself.
 *
 * The graph gets its summaries now, so it is for a model that no session has been made of.
 */
export function summaryHook(model: ModelSpec, given: SummaryHookOptions): SummarySaverHook {
  const { each = false, ...options } = given;
  const { graph, loss, name, label, pred, heads } = model;
  if (!graph.getCollection(SUMMARIES).some(({ tag }) => tag === LOSS)) scalar(LOSS, loss);
  gradientSummaries(graph, { each });
  const all = heads ?? [{ name, label, pred }];
  return new SummarySaverHook({ ...options, heads: all.flatMap(summaryHead) });
}

/** What of a head can be measured by a number per example; of one without a label, nothing. */
function summaryHead({ name, label, pred, kind }: Partial<ModelHead>): readonly SummaryHead[] {
  if (kind === 'multiclass' || !isNumber(label) || !isNumber(pred)) return [];
  return [{ name: name!, label, pred, classification: kind !== 'regression' }];
}

const isNumber = (tensor: Tensor | undefined): tensor is Tensor => tensor?.perExample === true && tensor.columns === 1;
