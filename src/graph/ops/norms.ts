/**
 * @file Norms: batch normalisation, layer norm, and division by the length of the row.
 *
 * Programs that train normalise by the mean and variance of the batch, which are completed within the step and
 * differentiated through, and keep moving averages of both in variables that are not trained. Others use those. Mirrors
 * tf.layers.batch_normalization.
 */

import { checkOptions } from '../../base/check-options.js';
import { misfit, type Op, type OpDef, type Tensor } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { perColumn, rowsOfFloats } from './checks.js';
import { add, binary, div, mul, scale, sub } from './elementwise.js';
import type { OpOptions } from './options.js';
import { reduceMean } from './reductions.js';
import { sumRows } from './rows.js';
import { assign, variable } from './state.js';
import { ifTraining, type TrainingOption } from './training.js';
import { sqrt, square } from './unary.js';

/** Collection of updates that belong to the step but to no gradient: add them to the train op. */
export const UPDATE_OPS = 'update_ops';

export interface BatchNormOptions extends OpOptions, TrainingOption {
  /** Share of the moving averages that a step keeps. Default: 0.99. */
  readonly momentum?: number;
  /** Default: 1e-3. */
  readonly epsilon?: number;
  /** Learn a shift; default true. */
  readonly center?: boolean;
  /** Learn a factor; default true. */
  readonly scale?: boolean;
}

/**
 * Normalises each column: gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the mean and variance of the batch
 * in programs that train, and their moving averages in others. The updates of those averages are in the collection
 * UPDATE_OPS: they belong into the train op.
 *
 * ```ts
 * const y = batchNorm(x);
 * const train = group(graph, [...updates, ...graph.getCollection(UPDATE_OPS)]);
 * ```
 */
export function batchNorm(x: Tensor, options: BatchNormOptions = {}): Tensor {
  const keys = ['training', 'momentum', 'epsilon', 'center', 'scale', 'name'] as const;
  const asked = checkOptions('batchNorm', options, keys);
  const { momentum = 0.99, epsilon = 1e-3, name = 'batch_normalization' } = asked;
  const { graph } = x;
  const width = rowsOfFloats(name, x).columns;
  if (x.spec.shape.length > 2) throw misfit(name, `${x.name} must be a matrix or a column`);
  if (!(momentum >= 0 && momentum <= 1)) throw misfit(name, `a momentum of ${momentum} is not between 0 and 1`);
  const shape = x.spec.shape.slice(1) as number[];
  const filled = (value: number) => () => new Float32Array(width).fill(value);
  return graph.nameScope(name, () => {
    const gamma = options.scale === false ? undefined : variable(graph, { name: 'gamma', shape, initial: filled(1) });
    const beta = options.center === false ? undefined : variable(graph, { name: 'beta', shape, initial: filled(0) });
    const movingMean = variable(graph, { name: 'moving_mean', shape, initial: filled(0), trainable: false });
    const movingVariance = variable(graph, { name: 'moving_variance', shape, initial: filled(1), trainable: false });

    const ofBatch = (value: Tensor, name: string) => batchSum(reduceMean(value, { axis: 'batch' }), { name });
    const current = (moving: Tensor, make: () => Tensor) => {
      if (options.training === false) return moving;
      const value = make();
      graph.addToCollection(UPDATE_OPS, movingAverage(moving, value, momentum));
      return ifTraining(value, moving, { ...(options.training !== undefined && { training: options.training }) });
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
  return assign(moving, next, { name: `${moving.op.name.slice(moving.op.name.lastIndexOf('/') + 1)}/assign` });
}

export interface NormAttrs {
  readonly epsilon: number;
}

export interface NormOptions extends OpOptions, Partial<NormAttrs> {}

function checkEpsilon(type: string, { epsilon }: NormAttrs): void {
  if (!(epsilon >= 0 && Number.isFinite(epsilon))) throw misfit(type, `epsilon ${epsilon} is not zero or above`);
}

/** The second output holds mean and 1 / sqrt(variance + epsilon) of each row, for the gradient. */
export const LayerNorm: OpDef<NormAttrs> = {
  type: 'LayerNorm',
  infer: ([x, gain, bias], attrs) => {
    rowsOfFloats('LayerNorm', x!);
    perColumn('LayerNorm', x!, gain!, 'gain');
    perColumn('LayerNorm', x!, bias!, 'bias');
    checkEpsilon('LayerNorm', attrs);
    return [x!.spec, { dtype: 'float32', shape: ['batch', 2] }];
  },
  gradient: (op, [grad]) => {
    const [x, gain] = op.inputs as [Tensor, Tensor];
    const stats = op.outputs[1]!;
    return [
      grad && op.graph.add(LayerNormGrad, [grad, x, gain, stats], null).output,
      grad && op.graph.add(LayerNormGainGrad, [grad, x, stats], null).output,
      grad && sumRows(grad),
    ];
  },
};

export const LayerNormGrad: OpDef<null> = { type: 'LayerNormGrad', infer: ([grad]) => [grad!.spec] };

export const LayerNormGainGrad: OpDef<null> = {
  type: 'LayerNormGainGrad',
  infer: ([grad]) => [{ dtype: 'float32', shape: [grad!.columns], partial: true }],
};

/** Each row less its mean, over its standard deviation, times `gain` plus `bias`; both have a value per column. */
export function layerNorm(x: Tensor, gain: Tensor, bias: Tensor, options: NormOptions = {}): Tensor {
  const { epsilon = 1e-3, name } = checkOptions('layerNorm', options, ['epsilon', 'name']);
  return x.graph.add(LayerNorm, [x, gain, bias], { epsilon }, name).output;
}

export const L2Normalize: OpDef<NormAttrs> = {
  type: 'L2Normalize',
  infer: ([x], attrs) => {
    checkEpsilon('L2Normalize', attrs);
    return [rowsOfFloats('L2Normalize', x!).spec];
  },
  gradient: (op, [grad]) => [grad && op.graph.add(L2NormalizeGrad, [grad, op.inputs[0]!], op.attrs).output],
};

export const L2NormalizeGrad: OpDef<NormAttrs> = { type: 'L2NormalizeGrad', infer: ([grad]) => [grad!.spec] };

/** Each row over its Euclidean length; a sum of squares below epsilon counts as epsilon. */
export function l2Normalize(x: Tensor, options: NormOptions = {}): Tensor {
  const { epsilon = 1e-12, name } = checkOptions('l2Normalize', options, ['epsilon', 'name']);
  return x.graph.add(L2Normalize, [x], { epsilon }, name).output;
}
