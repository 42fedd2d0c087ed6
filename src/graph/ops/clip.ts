/**
 * @file Clipping of gradients by their common norm. Mirrors clip_ops for graphs; `tensor/ops` has it for values.
 *
 * Gradients are sums over the batch, so they are completed first. Threads complete a range each and square it, and after
 * a barrier they scale what they hold: a step that clips has one stage more than one that does not.
 */
import { MonolithError } from '../../base/errors.js';
import { elementCount, misfit, type OpDef, type Tensor } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { floats } from './checks.js';

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

/** Square root of the sum of float64s. */
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

const completed = (tensors: readonly Tensor[]) => tensors.map((tensor) => batchSum(tensor, { by: 'threads' }));

/** Square root of the sum of all squares of all tensors, none of which has a row per example. */
export function globalNorm(tensors: readonly Tensor[], name = 'global_norm'): Tensor {
  const first = tensors[0];
  if (first === undefined) throw misfit(name, 'there is nothing to take the norm of');
  const squares = first.graph.add(SumSquares, completed(tensors), null, `${name}/squares`).output;
  return first.graph.add(RootOfSum, [squares], null, name).output;
}

export interface ClippedTensors {
  readonly clipped: readonly Tensor[];
  readonly globalNorm: Tensor;
}

/**
 * The tensors scaled by clipNorm / norm where the norm of them all is larger than `clipNorm`, and that norm. `useNorm`
 * replaces the norm that would be computed. Has no gradient.
 *
 * ```ts
 * const { clipped } = clipByGlobalNorm(gradients([loss], weights), 1.0);
 * ```
 */
export function clipByGlobalNorm(tensors: readonly Tensor[], clipNorm: number, useNorm?: Tensor): ClippedTensors {
  if (!Array.isArray(tensors)) throw new MonolithError('ML_CLIP_LIST');
  const whole = completed(tensors);
  const norm = useNorm === undefined ? globalNorm(whole) : batchSum(useNorm);
  const clipped = whole.map((x) => x.graph.add(ClipToNorm, [x, norm], { clipNorm }, 'clip_by_global_norm').output);
  return { clipped, globalNorm: norm };
}
