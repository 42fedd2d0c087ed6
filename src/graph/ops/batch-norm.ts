/**
 * @file Batch normalisation. Mirrors tf.layers.batch_normalization.
 *
 * Programs that train normalise by the mean and variance of the batch, which are completed within the step and
 * differentiated through, and keep moving averages of both in variables that are not trained. Others use those.
 */
import { misfit, type Op, type Tensor } from '../graph.js';
import { assign } from './assign.js';
import { batchSum } from './batch-sum.js';
import { rowsOfFloats } from './checks.js';
import { add, binary, div, sqrt, square } from './elementwise.js';
import { ifTraining, type TrainingOption } from './if-training.js';
import { mul, reduceMean, scale, sub } from './math.js';
import { variable } from './state.js';

/** Collection of updates that belong to the step but to no gradient: add them to the train op. */
export const UPDATE_OPS = 'update_ops';

export interface BatchNormOptions extends TrainingOption {
  /** Share of the moving averages that a step keeps. Default 0.99. */
  readonly momentum?: number;
  /** Default 1e-3. */
  readonly epsilon?: number;
  /** Learn a shift; default true. */
  readonly center?: boolean;
  /** Learn a factor; default true. */
  readonly scale?: boolean;
  readonly name?: string;
}

/**
 * Normalises each column: gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the mean and variance of the batch in
 * programs that update something, and their moving averages in others. The updates of those averages are in the collection
 * UPDATE_OPS: they belong into the train op.
 *
 * ```ts
 * const y = batchNorm(x);
 * const train = group(graph, [...updates, ...graph.getCollection<Op>(UPDATE_OPS)]);
 * ```
 */
export function batchNorm(x: Tensor, options: BatchNormOptions = {}): Tensor {
  const { momentum = 0.99, epsilon = 1e-3, name = 'batch_normalization' } = options;
  const { graph } = x;
  const width = rowsOfFloats(name, x).columns;
  if (x.spec.shape.length > 2) throw misfit(name, `${x.name} must be a matrix or a column`);
  if (!(momentum >= 0 && momentum <= 1)) throw misfit(name, `a momentum of ${momentum} is not between 0 and 1`);
  const shape = x.spec.shape.slice(1) as number[];
  const filled = (value: number) => () => new Float32Array(width).fill(value);
  return graph.nameScope(name, () => {
    const gamma = options.scale === false ? undefined : variable(graph, 'gamma', shape, filled(1));
    const beta = options.center === false ? undefined : variable(graph, 'beta', shape, filled(0));
    const movingMean = variable(graph, 'moving_mean', shape, filled(0), false);
    const movingVariance = variable(graph, 'moving_variance', shape, filled(1), false);

    const ofBatch = (value: Tensor, name: string) => batchSum(reduceMean(value, { axis: 'batch' }), { name });
    const current = (moving: Tensor, make: () => Tensor) => {
      if (options.training === false) return moving;
      const value = make();
      graph.addToCollection(UPDATE_OPS, movingAverage(moving, value, momentum));
      return ifTraining(value, moving, options);
    };
    const mean = current(movingMean, () => ofBatch(x, 'mean'));
    const centred = sub(x, mean);
    const variance = current(movingVariance, () => ofBatch(square(centred), 'variance'));
    // Small vectors are put together first, so that the rows are passed over once.
    const factor = div(gamma ?? 1, sqrt(add(variance, epsilon)));
    const normal = binary('mul', centred, factor);
    return beta === undefined ? normal : add(normal, beta);
  });
}

/** moving = momentum * moving + (1 - momentum) * current, at the end of the step. */
function movingAverage(moving: Tensor, current: Tensor, momentum: number): Op {
  const next = add(scale(moving, momentum), mul(current, 1 - momentum));
  return assign(moving, next, `${moving.op.name.slice(moving.op.name.lastIndexOf('/') + 1)}/assign`);
}
