/**
 * @file Clipping of gradients by value, by the norm of each, or by their common norm. Mirrors clip_ops and tf.clip_by_*
 * for graphs; `tensor/ops` has it for values.
 *
 * Gradients are sums over the batch, so they are completed first. Threads complete a range each and square it, and
 * after a barrier they scale what they hold: a step that clips has one stage more than one that does not. Rows per
 * example, such as the gradients of lookups, may have a part in a norm too; slices scale them.
 */

import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { elementCount, misfit, type OpDef, type Tensor } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { floats } from './checks.js';
import { greaterEqual, maximum, minimum, mul, type Operand } from './elementwise.js';
import { nameOf, type OpOptions } from './options.js';

/** Floats whose squares are summed together, whatever the number of threads. */
export const SQUARES_GRAIN = 1024;

const grainsOf = (tensor: Tensor) => Math.ceil(elementCount(tensor.spec.shape) / SQUARES_GRAIN);

/** A float64 per grain of the inputs, one after the other. */
export const SumSquares: OpDef<null> = {
  type: 'SumSquares',
  infer: (inputs) => {
    for (const input of inputs) {
      if (floats('SumSquares', input).perExample || input.spec.partial) {
        throw misfit('SumSquares', `${input.name} must be a value that all examples share`);
      }
    }
    return [{ dtype: 'float32', shape: [2 * inputs.reduce((sum, input) => sum + grainsOf(input), 0)] }];
  },
};

/** A float64 per slice: the squares of its rows. */
export const RowSquares: OpDef<null> = {
  type: 'RowSquares',
  infer: ([x]) => {
    if (!floats('RowSquares', x!).perExample) throw misfit('RowSquares', `${x!.name} has no row per example`);
    return [{ dtype: 'float32', shape: [2], partial: true }];
  },
};

/** Square root of the sum of the float64s of all inputs. */
export const RootOfSum: OpDef<null> = {
  type: 'GlobalNorm',
  infer: () => [{ dtype: 'float32', shape: [] }],
};

/** Inputs: values, norm. */
export const ClipToNorm: OpDef<{ readonly clipNorm: number }> = {
  type: 'ClipToNorm',
  infer: ([x, norm], { clipNorm }) => {
    if (!(clipNorm > 0)) throw misfit('ClipToNorm', `a norm cannot be clipped to ${clipNorm}`);
    if (norm!.perExample || norm!.spec.partial || norm!.columns !== 1) {
      throw misfit('ClipToNorm', `${norm!.name} is no norm: one number is needed`);
    }
    return [floats('ClipToNorm', x!).spec];
  },
};

const completed = (tensor: Tensor) => batchSum(tensor, { by: 'threads' });

/** Square root of the sum of all squares of all tensors; `undefined` ones have none. */
export function globalNorm(tensors: readonly (Tensor | undefined)[], options: OpOptions = {}): Tensor {
  const name = nameOf('globalNorm', options, 'global_norm');
  const given = tensors.filter((tensor) => tensor !== undefined);
  const first = given[0];
  if (first === undefined) throw misfit(name, 'there is nothing to take the norm of');
  const { graph } = first;
  const whole = given.filter((tensor) => !tensor.perExample).map(completed);
  const rows = given.filter((tensor) => tensor.perExample);
  const squares = rows.map((tensor) => graph.add(RowSquares, [tensor], null, `${name}/row_squares`).output);
  if (whole.length > 0) squares.unshift(graph.add(SumSquares, whole, null, `${name}/squares`).output);
  return graph.add(RootOfSum, squares, null, name).output;
}

export interface ClipByNormOptions extends OpOptions {
  /** Replaces the norm of the tensor. */
  readonly norm?: Tensor | undefined;
}

/** The tensor scaled by clipNorm / norm where its norm is larger than `clipNorm`. Has no gradient. */
export function clipByNorm(tensor: Tensor, clipNorm: number, options: ClipByNormOptions = {}): Tensor {
  const { norm, name = 'clip_by_norm' } = checkOptions('clipByNorm', options, ['norm', 'name']);
  const whole = completed(tensor);
  const length = norm === undefined ? globalNorm([whole]) : batchSum(norm);
  return tensor.graph.add(ClipToNorm, [whole, length], { clipNorm }, name).output;
}

export interface ClippedTensors<T extends Tensor | undefined = Tensor> {
  readonly clipped: readonly T[];
  /** 0 where there was no tensor. */
  readonly globalNorm: Tensor | 0;
}

export interface ClipByGlobalNormOptions extends OpOptions {
  /** Replaces the norm that would be computed. */
  readonly useNorm?: Tensor | undefined;
}

/**
 * The tensors scaled by clipNorm / norm where the norm of them all is larger than `clipNorm`, and that norm. What is
 * `undefined` stays. Has no gradient.
 *
 * ```ts
 * const { clipped } = clipByGlobalNorm(gradients([loss], weights), 1.0);
 * ```
 */
export function clipByGlobalNorm<T extends Tensor | undefined>(
  tensors: readonly T[],
  clipNorm: number,
  options: ClipByGlobalNormOptions = {},
): ClippedTensors<T> {
  const { useNorm, name = 'clip_by_global_norm' } = checkOptions('clipByGlobalNorm', options, ['useNorm', 'name']);
  if (!Array.isArray(tensors)) throw new MonolithError('ML_CLIP_LIST');
  if (tensors.every((tensor) => tensor === undefined)) return { clipped: tensors, globalNorm: 0 };
  const whole = tensors.map((tensor) => tensor && completed(tensor));
  const norm = useNorm === undefined ? globalNorm(whole) : batchSum(useNorm);
  const clipped = whole.map((tensor) => tensor && clipByNorm(tensor, clipNorm, { norm, name })) as T[];
  return { clipped, globalNorm: norm };
}

export interface ClipByValueAttrs {
  readonly low: number;
  readonly high: number;
}

/** Of a value that all examples share, in ranges of threads. */
export const ClipByValue: OpDef<ClipByValueAttrs> = {
  type: 'ClipByValue',
  infer: ([x]) => [x!.spec],
  gradient: (op, [grad]) => {
    const [x, { low, high }] = [op.inputs[0]!, op.attrs];
    return [grad && mul(grad, mul(greaterEqual(x, low), greaterEqual(high, x)))];
  },
};

/**
 * Values below `low` become `low`, those above `high` become `high`; a NaN stays one. Only what is in between passes a
 * gradient on. Sums over the batch, such as gradients of variables, are completed first; they and other large values
 * that all examples share are clipped by threads in ranges, all else in slices.
 *
 * ```ts
 * const clipped = gradients([loss], weights).map((gradient) => gradient && clipByValue(gradient, -1, 1));
 * ```
 */
export function clipByValue(x: Tensor, low: Operand, high: Operand, options: OpOptions = {}): Tensor {
  const name = nameOf('clipByValue', options, 'clip_by_value');
  const areNumbers = typeof low === 'number' && typeof high === 'number';
  if (areNumbers && !(low <= high)) throw misfit(name, `${low} to ${high} is no range`);
  floats(name, x);
  const isLarge = !x.perExample && (x.spec.partial || elementCount(x.spec.shape) > SQUARES_GRAIN);
  if (!areNumbers || !isLarge) return maximum(minimum(x, high), low, { name });
  return x.graph.add(ClipByValue, [completed(x)], { low, high }, name).output;
}
