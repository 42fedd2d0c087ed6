/** @file The mean over the batch with a weight per example. */
import type { OpDef, Tensor } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { oneFloat, rowsOfFloats } from './checks.js';
import { mul, reduceMean, scaleRows } from './math.js';

/** Inputs: x and a number of the whole batch. The number gets no gradient. */
export const DivideByScalar: OpDef<null> = {
  type: 'DivideByScalar',
  infer: ([x]) => [rowsOfFloats('DivideByScalar', x!).spec],
};

/**
 * Sum of weight times value over the sum of the weights, of the whole batch: with weights of 0 and 1 the mean of some
 * examples. 0 when all weights are. Weights get no gradient. Costs a barrier per step, because the sum of the weights must
 * be known before gradients are; `reduceMean` of weighted losses divides by the number of examples and costs none.
 */
export function weightedMean(x: Tensor, weights: Tensor, name?: string): Tensor {
  rowsOfFloats('weightedMean', x);
  oneFloat('weightedMean', weights, 'weight');
  const mean = batchSum(reduceMean(weights));
  const shares = x.graph.add(DivideByScalar, [weights, mean], null, 'weight_shares').output;
  const fits = shares.spec.shape.length === x.spec.shape.length && x.columns === 1;
  return reduceMean(fits ? mul(x, shares) : scaleRows(shares, x), name);
}
