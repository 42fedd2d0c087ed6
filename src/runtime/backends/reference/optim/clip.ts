/** @file Clipping by value, and of rows per example by a norm, in plain TypeScript. */
import type { Views } from '../../../../memory/views.js';
import { clipToNormF32, sumSquaresF64 } from '../dense/whole.js';

const f = Math.fround;

/** dst = min(max(src, low), high). NaN stays. */
export function clipValueF32({ f32 }: Views, src: number, dst: number, n: number, low: number, high: number): void {
  for (let i = 0; i < n; i++) f32[(dst >>> 2) + i] = Math.min(Math.max(f32[(src >>> 2) + i]!, f(low)), f(high));
}

/** dst[0] = the sum of `count` f64, in order. */
export function sumF64({ f64 }: Views, src: number, count: number, dst: number): void {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += f64[(src >>> 3) + i]!;
  f64[dst >>> 3] = sum;
}

/** dst[0] = the sum of squares of a matrix in f64, row after row. */
export function rowSquaresF64(m: Views, src: number, stride: number, rows: number, cols: number, dst: number): void {
  let sum = 0;
  for (let r = 0; r < rows && cols > 0; r++) {
    sumSquaresF64(m, src + r * stride * 4, cols, cols, dst);
    sum += m.f64[dst >>> 3]!;
  }
  m.f64[dst >>> 3] = sum;
}

/** clipToNormF32 of each row of a matrix, by one norm. */
export function clipRowsToNormF32(
  m: Views,
  src: number,
  srcStride: number,
  norm: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  clipNorm: number,
): void {
  for (let r = 0; r < rows; r++)
    clipToNormF32(m, src + r * srcStride * 4, norm, dst + r * dstStride * 4, cols, clipNorm);
}
