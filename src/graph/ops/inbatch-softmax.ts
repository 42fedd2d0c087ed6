/**
 * @file The loss of two towers as graph op: each row of one side is to find its partner, the row of the same example,
 * among those of the whole batch. All other examples of the batch are the negatives.
 *
 * Each slice takes its own examples against those of the whole batch, which are gathered first: a barrier in between.
 */

import { checkOptions } from '../../base/check-options.js';
import { misfit, type OpDef, shapeText, type Tensor } from '../graph.js';
import { rowsOfFloats } from './checks.js';
import { scale } from './elementwise.js';
import { GatherBatch } from './inbatch-auc.js';
import { type LossOptions, weightLoss } from './losses.js';

/** Inputs: gathered partners, partners, rows. Outputs: a loss per example; the logarithm of its sum. */
export const InbatchSoftmax: OpDef<null> = {
  type: 'InbatchSoftmaxLoss',
  infer: ([all, items, rows]) => {
    const [width, wanted] = [items!, rows!].map((x) => rowsOfFloats('InbatchSoftmaxLoss', x).columns);
    if (width !== wanted || all!.columns !== width) {
      const [found, other] = [rows!, items!].map(({ spec }) => shapeText(spec.shape));
      throw misfit('InbatchSoftmaxLoss', `rows of shape ${found} have no dot products with ${other}`);
    }
    return [
      { dtype: 'float32', shape: ['batch'] },
      { dtype: 'float32', shape: ['batch'] },
    ];
  },
  gradient: (op, [grad]) => {
    if (grad === undefined) return [];
    const { graph } = op;
    const [allItems, items, rows] = op.inputs as [Tensor, Tensor, Tensor];
    const [grads, sums, allRows] = [grad, op.outputs[1]!, rows].map((x) => graph.add(GatherBatch, [x], null).output);
    const by = (others: Tensor, own: Tensor, byOther: boolean) =>
      graph.add(InbatchSoftmaxGrad, [others, grads!, sums!, own], { byOther }).output;
    return [undefined, by(allRows!, items, true), by(allItems, rows, false)];
  },
};

/** Inputs: gathered rows of the other side, gathered gradients, gathered sums, rows of this side. */
export const InbatchSoftmaxGrad: OpDef<{ readonly byOther: boolean }> = {
  type: 'InbatchSoftmaxLossGrad',
  infer: ([, , , own]) => [own!.spec],
};

export interface InbatchSoftmaxOptions extends LossOptions {
  /** Dot products are divided by it: small ones make near misses count more. Default: 1. */
  readonly temperature?: number;
}

/**
 * Loss per example of two towers, `[batch, d]` each: the cross entropy of the softmax of the dot products of its row
 * with the items of the whole batch, of which its own is the right one. To correct for items that come often, put the
 * logarithm of how often beside the item, negated, and a 1 beside the user.
 *
 * ```ts
 * const loss = reduceMean(inbatchSoftmaxLoss(user, item, { temperature: 0.1, weights: click }));
 * ```
 */
export function inbatchSoftmaxLoss(users: Tensor, items: Tensor, options: InbatchSoftmaxOptions = {}): Tensor {
  const {
    temperature = 1,
    weights,
    name = 'inbatch_softmax_loss',
  } = checkOptions('inbatchSoftmaxLoss', options, ['temperature', 'weights', 'name']);
  if (!(temperature > 0 && Number.isFinite(temperature))) throw misfit(name, `a temperature of ${temperature}`);
  const { graph } = users;
  const all = graph.add(GatherBatch, [items], null, `${name}/gather`).output;
  const rows = temperature === 1 ? users : scale(users, 1 / temperature);
  return weightLoss(name, graph.add(InbatchSoftmax, [all, items, rows], null, name).output, weights);
}
