/** @file What every loss takes beside predictions and labels: a weight per example, and a name. */
import type { Tensor } from '../graph.js';
import { oneFloat } from './checks.js';
import { columns, mul } from './math.js';

export interface LossOptions {
  /** A weight per example that its loss is multiplied by. */
  readonly weights?: Tensor;
  readonly name?: string;
}

/** The loss of each example times its weight, where there is one. */
export function weightLoss(type: string, loss: Tensor, weights: Tensor | undefined): Tensor {
  if (weights === undefined) return loss;
  const plain = oneFloat(type, weights, 'weight').spec.shape.length === 1 ? weights : columns(weights, 0, 1);
  return mul(loss, plain, `${loss.op.name}_weighted`);
}
