/** @file The activation of deep interest networks: a rectifier whose corner moves with the data. */
import type { Tensor } from '../graph.js';
import { scaleColumns } from './activations.js';
import { batchNorm } from './batch-norm.js';
import type { TrainingOption } from './if-training.js';
import { sigmoid } from './layers.js';
import { addN, mul, sub } from './math.js';

export interface DiceOptions extends TrainingOption {
  /** Share of the moving averages that a step keeps. Default 0.99. */
  readonly momentum?: number;
  /** Default 1e-9. */
  readonly epsilon?: number;
  readonly name?: string;
}

/**
 * p * x + (1 - p) * alpha * x, with p the sigmoid of x normalised over the batch, column by column. `alpha`, one per column,
 * is learned; it mostly starts from zeros. Statistics are as with batchNorm. Updates of the moving averages are in the collection UPDATE_OPS.
 */
export function dice(x: Tensor, alpha: Tensor, options: DiceOptions = {}): Tensor {
  const { epsilon = 1e-9, name = 'dice', ...more } = options;
  return x.graph.nameScope(name, () => {
    const p = sigmoid(batchNorm(x, { ...more, epsilon, center: false, scale: false }));
    const kept = mul(p, x);
    return addN([kept, scaleColumns(sub(x, kept), alpha)]);
  });
}
