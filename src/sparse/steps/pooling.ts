/**
 * @file How the rows of an example's ids become what a lookup gives: their sum, their mean, or the first of them as a
 * sequence. Mirrors the combiners of native_training as graph ops.
 */
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext, Matrix, RaggedFeed } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';
import { type GradientSums, sumScratch } from './gradient-sums.js';
import type { Pooling } from './pooled-shape.js';

/** A feature in slice code. */
export interface PooledFeature {
  readonly inverse: Register;
  readonly ragged: RaggedFeed;
}

/** Writes what a lookup gives; `rows` are the addresses of the rows of the unique ids. */
export function emitPool(
  context: LoweringContext,
  pooling: Pooling,
  { inverse, ragged }: PooledFeature,
  rows: Register,
  dim: number,
  out: Matrix,
): void {
  const { slice } = context;
  const { splits } = ragged;
  const pooled = { rowPtrs: rows, inverse, splits, rows: context.rows, dim: slice.constant(dim), out };
  if (typeof pooling === 'object') {
    context.emit(KERNEL.firstNF32, { ...pooled, n: slice.constant(pooling.firstN) });
  } else context.emit(pooling === 'mean' ? KERNEL.poolMeanF32 : KERNEL.poolSumF32, pooled);
}

/** Adds the gradient of a lookup to the sums per unique id. */
export function emitPoolGradient(
  context: LoweringContext,
  pooling: Pooling,
  { inverse, ragged }: PooledFeature,
  grad: Matrix,
  dim: number,
  sums: GradientSums,
): void {
  const { slice } = context;
  const { splits, capacity } = ragged;
  const scratch = sumScratch(context, sums, capacity, capacity);
  const added = { grad, inverse, splits, rows: context.rows, dim: slice.constant(dim), ugrad: sums, scratch };
  if (typeof pooling === 'object') {
    context.emit(KERNEL.firstNGradF32, { ...added, n: slice.constant(pooling.firstN) });
  } else context.emit(pooling === 'mean' ? KERNEL.scatterMeanF32 : KERNEL.scatterAddF32, added);
}
