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
  return ml.matMul(rows, shop.variable([rows.columns, CLASSES + shop.random.below(3)], 0.7));
};

export const LOSS_BUILDERS: Readonly<Record<string, LossBuilder>> = {
  meanSquare: (_, x) => ml.reduceMean(ml.mul(x, x)),
  sumSquare: (shop, x) => ml.scale(ml.reduceSum(ml.square(x)), shop.random.of([0.1, 0.03])),
  squaredError: (shop, x) => {
    const flat = shop.rows(x);
    return ml.reduceMean(ml.squaredError(flat, ml.stopGradient(ml.tanh(flat)), weights(shop)));
  },
  sigmoidCrossEntropy: (shop, x) =>
    ml.reduceMean(ml.sigmoidCrossEntropyWithLogits(shop.flat(x), label(shop), weights(shop))),
  weightedCrossEntropy: (shop, x) =>
    ml.reduceMean(ml.weightedCrossEntropyWithLogits(shop.flat(x), label(shop), { posWeight: 2.5, ...weights(shop) })),
  hinge: (shop, x) => ml.reduceMean(ml.hingeLoss(shop.flat(x), shop.feeds.label!, weights(shop))),
  focal: (shop, x) =>
    ml.reduceMean(
      ml.focalLoss(shop.flat(x), label(shop), {
        gamma: shop.random.of([0, 1, 2]),
        alpha: shop.random.of([0.25, null]),
      }),
    ),
  softmaxCrossEntropy: (shop, x) => {
    const rows = logits(shop, x);
    return ml.reduceMean(
      ml.softmaxCrossEntropyWithLogits(rows, ml.stopGradient(ml.softmax(ml.scale(rows, -1))), weights(shop)),
    );
  },
  sparseSoftmaxCrossEntropy: (shop, x) =>
    ml.reduceMean(ml.sparseSoftmaxCrossEntropyWithLogits(logits(shop, x), shop.feeds.class!, weights(shop))),
  inbatchAuc: (shop, x) =>
    ml.scale(ml.inbatchAucLoss(shop.flat(x), shop.feeds.mark!, { negWeight: shop.random.of([1, 0.5]) }), -0.02),
  weightedMean: (shop, x) => {
    const flat = shop.rows(x);
    return ml.weightedMean(ml.mul(flat, flat), shop.feeds.weight!);
  },
  largest: (_, x) => ml.reduceMax(x.spec.shape.length > 2 ? ml.reshape(x, [x.columns]) : x),
  batchColumns: (_, x) => ml.reduceSum(ml.square(ml.batchSum(ml.reduceMean(x, { axis: 'batch' })))),
  shared: (shop, x) => ml.add(ml.reduceMean(x), ml.scale(ml.reduceSum(ml.abs(shop.variable([5], 0.5))), 0.1)),
};
