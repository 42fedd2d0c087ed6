/** @file Clipping by value, and of rows per example by a norm, in plain TypeScript. */

import { KERNEL } from '../../../kernels/kernels.js';
import { clipToNormF32, sumSquaresF64 } from '../dense/whole.js';
import { twin } from '../twin.js';

const f = Math.fround;

/** dst = min(max(src, low), high). NaN stays. */
export const clipValueF32 = twin(KERNEL.clipValueF32, ({ f32 }, { src, dst, n, low, high }) => {
  for (let i = 0; i < n; i++) f32[(dst >>> 2) + i] = Math.min(Math.max(f32[(src >>> 2) + i]!, f(low)), f(high));
});

/** dst[0] = the sum of `count` f64, in order. */
export const sumF64 = twin(KERNEL.sumF64, ({ f64 }, { src, count, dst }) => {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += f64[(src >>> 3) + i]!;
  f64[dst >>> 3] = sum;
});

/** dst[0] = the sum of squares of a matrix in f64, row after row. */
export const rowSquaresF64 = twin(KERNEL.rowSquaresF64, (m, { src, srcStride: stride, rows, cols, dst }) => {
  let sum = 0;
  for (let r = 0; r < rows && cols > 0; r++) {
    sumSquaresF64(m, src + r * stride * 4, cols, cols, dst);
    sum += m.f64[dst >>> 3]!;
  }
  m.f64[dst >>> 3] = sum;
});

/** clipToNormF32 of each row of a matrix, by one norm. */
export const clipRowsToNormF32 = twin(
  KERNEL.clipRowsToNormF32,
  (m, { src, srcStride, norm, dst, dstStride, rows, cols, clipNorm }) => {
    for (let r = 0; r < rows; r++)
      clipToNormF32(m, src + r * srcStride * 4, norm, dst + r * dstStride * 4, cols, clipNorm);
  },
);
