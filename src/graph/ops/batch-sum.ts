/**
 * @file Sums over the batch: completing them within a step, and making whole values part of one.
 *
 * A partial tensor (see TensorSpec) is known only as parts, one per slice of the batch. What needs its value, such as
 * code that normalises examples by statistics of the batch, completes it: a barrier, the parts added in slice order, a
 * barrier. The gradient of a partial tensor is always whole, because every part has the same one; the gradient of a
 * whole tensor may be partial, when examples use it.
 */

import { checkOptions } from '../../base/check-options.js';
import { elementCount, misfit, type OpDef, type Tensor, type TensorSpec } from '../graph.js';
import { nameOf, type OpOptions } from './options.js';

/** Up to this many floats every slice adds the parts up for itself: that takes one barrier instead of two. */
const SMALL_FLOATS = 1024;

export interface BatchSumAttrs {
  /** Who adds the parts up: every slice for itself, or each thread a range for all. */
  readonly by: 'slices' | 'threads';
}

export interface BatchSumOptions extends OpOptions, Partial<BatchSumAttrs> {}

export const BatchSum: OpDef<BatchSumAttrs> = {
  type: 'BatchSum',
  infer: ([x]) => {
    if (!x!.spec.partial) throw misfit('BatchSum', `${x!.name} is no sum over the batch`);
    return [whole(x!.spec)];
  },
  gradient: (op, [grad]) => [grad && batchSum(grad, op.attrs)],
};

function whole({ dtype, shape }: TensorSpec): TensorSpec {
  return { dtype, shape };
}

/**
 * The completed value of a sum over the batch, such as a mean, for use in the same step; any other tensor stays as it
 * is. Costs a barrier or two per step. `by: 'threads'` is for large sums that only thread code uses, such as gradients.
 */
export function batchSum(x: Tensor, options: BatchSumOptions = {}): Tensor {
  const { name, ...asked } = checkOptions('batchSum', options, ['by', 'name']);
  if (!x.spec.partial) return x;
  const by = asked.by ?? (elementCount(x.spec.shape) <= SMALL_FLOATS ? 'slices' : 'threads');
  return x.graph.add(BatchSum, [x], { by }, name).output;
}

export const AsPartial: OpDef<null> = {
  type: 'AsPartial',
  infer: ([x]) => {
    if (x!.perExample || x!.spec.dtype !== 'float32') throw misfit('AsPartial', `${x!.name} is no part of a sum`);
    return [{ ...x!.spec, partial: true }];
  },
  gradient: (_, [grad]) => [grad],
};

/** A whole value as a sum over the batch, of which the first slice holds all: so that it can be added to one. */
export function asPartial(x: Tensor, options: OpOptions = {}): Tensor {
  return x.spec.partial ? x : x.graph.add(AsPartial, [x], null, nameOf('asPartial', options)).output;
}
