/** @file Reductions in plain TypeScript, each in the one order its kernel documents. */
import type { Views } from '../../../../memory/views.js';
import { sumColumn } from './block-sums.js';

const f = Math.fround;

/** dst[c] (+)= the sum over r of src[r, c]. */
export function sumRowsF32(
  m: Views,
  src: number,
  srcStride: number,
  dst: number,
  rows: number,
  cols: number,
  acc: number,
): void {
  for (let c = 0; c < cols; c++) {
    const start = acc ? m.f32[(dst >>> 2) + c]! : 0;
    m.f32[(dst >>> 2) + c] = sumColumn(rows, start, (r) => m.f32[(src >>> 2) + r * srcStride + c]!);
  }
}

/** dst[0] = factor * (sum of all elements), summed in f64 in row-major order. */
export function sumF32(
  m: Views,
  src: number,
  srcStride: number,
  rows: number,
  cols: number,
  dst: number,
  factor: number,
): void {
  let sum = 0;
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) sum += m.f32[(src >>> 2) + r * srcStride + c]!;
  }
  m.f32[dst >>> 2] = f(factor) * sum;
}

/** dst[i] = (src[0][i] + src[1][i]) + ... in slice order; 0 when there are no slices. */
export function reduceSlicesF32(
  m: Views,
  src: number,
  sliceStride: number,
  slices: number,
  dst: number,
  n: number,
): void {
  for (let i = 0; i < n; i++) {
    let sum = slices > 0 ? m.f32[(src >>> 2) + i]! : 0;
    for (let s = 1; s < slices; s++) sum = f(sum + m.f32[(src >>> 2) + s * sliceStride + i]!);
    m.f32[(dst >>> 2) + i] = sum;
  }
}
