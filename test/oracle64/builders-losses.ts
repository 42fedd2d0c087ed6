/** @file Builders of scalars: losses, sums, means and extremes that a graph is differentiated from. */
import type { Tensor } from '../../src/graph/graph.js';
import * as ml from '../../src/index.js';
import { CLASSES } from './batches.js';
import type { Workshop } from './workshop.js';

/** Makes a scalar that depends on `x`, or on what is made of it. */
export type LossBuilder = (shop: Workshop, x: Tensor) => Tensor;

const weights = (shop: Workshop) => (shop.random.chance(0.3) ? { weights: shop.feeds.weight! } : {});
const label = (shop: Workshop) => shop.random.of([shop.feeds.label!, shop.feeds.soft!]);
/** Logits of several classes. */
const logits = (shop: Workshop, x: Tensor): Tensor => {
  const rows = shop.rows(x);
  if (rows.columns >= CLASSES && shop.random.chance(0.6)) return rows;
  return ml.ops.matMul(rows, shop.variable([rows.columns, CLASSES + shop.random.below(3)], 0.7));
};

export const LOSS_BUILDERS: Readonly<Record<string, LossBuilder>> = {
  meanSquare: (_, x) => ml.ops.reduceMean(ml.ops.mul(x, x)),
  sumSquare: (shop, x) => ml.ops.scale(ml.ops.reduceSum(ml.ops.square(x)), shop.random.of([0.1, 0.03])),
  squaredError: (shop, x) => {
    const flat = shop.rows(x);
    return ml.ops.reduceMean(ml.losses.squaredError(flat, ml.ops.stopGradient(ml.ops.tanh(flat)), weights(shop)));
  },
  sigmoidCrossEntropy: (shop, x) =>
    ml.ops.reduceMean(ml.losses.sigmoidCrossEntropyWithLogits(shop.flat(x), label(shop), weights(shop))),
  weightedCrossEntropy: (shop, x) =>
    ml.ops.reduceMean(
      ml.losses.weightedCrossEntropyWithLogits(shop.flat(x), label(shop), { posWeight: 2.5, ...weights(shop) }),
    ),
  hinge: (shop, x) => ml.ops.reduceMean(ml.losses.hingeLoss(shop.flat(x), shop.feeds.label!, weights(shop))),
  focal: (shop, x) =>
    ml.ops.reduceMean(
      ml.losses.focalLoss(shop.flat(x), label(shop), {
        gamma: shop.random.of([0, 1, 2]),
        alpha: shop.random.of([0.25, null]),
      }),
    ),
  softmaxCrossEntropy: (shop, x) => {
    const rows = logits(shop, x);
    return ml.ops.reduceMean(
      ml.losses.softmaxCrossEntropyWithLogits(
        rows,
        ml.ops.stopGradient(ml.ops.softmax(ml.ops.scale(rows, -1))),
        weights(shop),
      ),
    );
  },
  sparseSoftmaxCrossEntropy: (shop, x) =>
    ml.ops.reduceMean(ml.losses.sparseSoftmaxCrossEntropyWithLogits(logits(shop, x), shop.feeds.class!, weights(shop))),
  inbatchAuc: (shop, x) =>
    ml.ops.scale(
      ml.losses.inbatchAucLoss(shop.flat(x), shop.feeds.mark!, { negWeight: shop.random.of([1, 0.5]) }),
      -0.02,
    ),
  inbatchSoftmax: (shop, x) => {
    const rows = shop.rows(x);
    const items = ml.ops.tanh(ml.ops.matMul(rows, shop.variable([rows.columns, rows.columns], 0.5)));
    const users = ml.ops.tanh(rows);
    return ml.ops.reduceMean(ml.losses.inbatchSoftmaxLoss(users, items, { temperature: 2, ...weights(shop) }));
  },
  weightedMean: (shop, x) => {
    const flat = shop.rows(x);
    return ml.ops.weightedMean(ml.ops.mul(flat, flat), shop.feeds.weight!);
  },
  largest: (_, x) => ml.ops.reduceMax(x.spec.shape.length > 2 ? ml.ops.reshape(x, [x.columns]) : x),
  batchColumns: (_, x) => ml.ops.reduceSum(ml.ops.square(ml.ops.batchSum(ml.ops.reduceMean(x, { axis: 'batch' })))),
  shared: (shop, x) =>
    ml.ops.add(ml.ops.reduceMean(x), ml.ops.scale(ml.ops.reduceSum(ml.ops.abs(shop.variable([5], 0.5))), 0.1)),
};
