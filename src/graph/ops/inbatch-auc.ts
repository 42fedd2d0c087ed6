/**
 * @file The loss over all pairs of a positive and a negative of the batch as graph op. Mirrors inbatch_auc_loss;
 * `tensor/ops` has it for values.
 *
 * Each slice takes its own examples against those of the whole batch, which are gathered first: a barrier in between.
 */

import { checkOptions } from '../../base/check-options.js';
import { misfit, type OpDef, type Tensor } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { oneFloat, rowsOfFloats } from './checks.js';
import type { OpOptions } from './options.js';

/** The rows of all slices in one place. Only ops that read across slices can use it. */
export const GatherBatch: OpDef<null> = {
  type: 'GatherBatch',
  infer: ([x]) => [rowsOfFloats('GatherBatch', x!).spec],
};

export interface InbatchAucAttrs {
  readonly negWeight: number;
}

/** Inputs: gathered labels, gathered logits, logits. */
export const InbatchAuc: OpDef<InbatchAucAttrs> = {
  type: 'InbatchAucLoss',
  infer: (inputs, { negWeight }) => {
    for (const value of inputs) oneFloat('InbatchAucLoss', value, 'value');
    if (!(negWeight > 0 && negWeight <= 1)) {
      throw misfit('InbatchAucLoss', `the weight of negatives is ${negWeight}, not in (0, 1]`);
    }
    return [{ dtype: 'float32', shape: [], partial: true }];
  },
  gradient: (op, [grad]) => {
    if (grad === undefined) return [];
    const [labels, logits, own] = op.inputs as [Tensor, Tensor, Tensor];
    const inputs = [labels, logits, batchSum(grad), own];
    return [undefined, undefined, op.graph.add(InbatchAucGrad, inputs, op.attrs).output];
  },
};

/** Inputs: gathered labels, gathered logits, gradient of the loss, logits. */
export const InbatchAucGrad: OpDef<InbatchAucAttrs> = {
  type: 'InbatchAucLossGrad',
  infer: ([, , , logits]) => [logits!.spec],
};

export interface InbatchAucOptions extends OpOptions {
  /** Weighs the gradients of negatives; above 0, at most 1. Default: 1. */
  readonly negWeight?: number;
}

/**
 * Sum over the pairs of a positive p and a negative n of the batch of log sigmoid(logit[p] - logit[n]): at most 0, and
 * larger the better the order, so train on its negation. Labels above 0 are positive, those of -10000 and below are
 * left out.
 */
export function inbatchAucLoss(logits: Tensor, labels: Tensor, options: InbatchAucOptions = {}): Tensor {
  const { negWeight = 1, name = 'inbatch_auc_loss' } = checkOptions('inbatchAucLoss', options, ['negWeight', 'name']);
  const { graph } = logits;
  const [all, scores] = [labels, logits].map((x) => graph.add(GatherBatch, [x], null, `${name}/gather`).output);
  return graph.add(InbatchAuc, [all!, scores!, logits], { negWeight }, name).output;
}
