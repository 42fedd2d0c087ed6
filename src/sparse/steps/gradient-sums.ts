/** @file Where the gradients of a table's lookups are added up in a slice: a row for each unique id that is stepped. */

import { idSumsScratchBytes, needsIdSums } from '../../memory/id-sums-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext, PerLease } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';

export interface GradientSums extends PerLease {
  readonly stride: Register;
  /** The same in floats. */
  readonly strideFloats: number;
  /** Rows a slice can have. */
  readonly capacity: number;
}

/**
 * The unique ids that a step changes rows of: their table, how many there are in a slice, and how many there can be.
 */
interface SteppedIds {
  readonly table: { readonly dim: number };
  readonly trained: Register;
  readonly capacity: number;
  /** In a step that adds them up over the slices itself. */
  readonly routed?: object;
}

/** A row of zeros for each id that is stepped, which gradients are added to. */
export function lowerSums(context: LoweringContext, { table, trained, capacity, routed }: SteppedIds): GradientSums {
  const { slice } = context;
  const strideFloats = Math.ceil(table.dim / 4) * 4;
  const bytes = capacity * strideFloats * 4;
  // What waits for a push is the sum over slices where that is made in the step.
  const sums =
    routed === undefined ? context.perLease(bytes, 'gradient sums') : ofStep(context.perSlice(bytes, 'gradient sums'));
  const stride = slice.constant(strideFloats);
  const dst = { pointer: sums.pointer, stride };
  context.emit(KERNEL.zeroRowsF32, { dst, rows: trained, cols: slice.constant(table.dim) });
  return { ...sums, stride, strideFloats, capacity };
}

/** The same for all batches in flight. */
function ofStep({ base, sliceBytes, pointer }: ReturnType<LoweringContext['perSlice']>): PerLease {
  return { at: (index) => base + index * sliceBytes, sliceBytes, pointer };
}

/**
 * The scratch of a call that adds to the sums. `count` is how many ids a feature of the call can have in a slice,
 * `additions` how many all have. What there is room for only decides whether the call gets a scratch: whether it uses
 * it, the ids that come do.
 */
export function sumScratch(
  context: LoweringContext,
  { strideFloats, capacity }: GradientSums,
  count: number,
  additions: number,
): Register {
  return needsIdSums(count)
    ? context.scratch(idSumsScratchBytes(capacity, strideFloats, additions))
    : context.slice.constant(0);
}
