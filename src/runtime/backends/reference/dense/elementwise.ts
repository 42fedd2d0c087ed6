/** @file Elementwise kernels in plain TypeScript. */
import type { Views } from '../../../../memory/views.js';
import { mapRows, put, zipRows } from './loops.js';

const f = Math.fround;

/** dst (+)= a - b. */
export function subF32(
  m: Views,
  a: number,
  aStride: number,
  b: number,
  bStride: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  acc: number,
): void {
  zipRows(m, a, aStride, b, bStride, dst, dstStride, rows, cols, acc, (x, y) => f(x - y));
}

/** dst (+)= a * b. */
export function mulF32(
  m: Views,
  a: number,
  aStride: number,
  b: number,
  bStride: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  acc: number,
): void {
  zipRows(m, a, aStride, b, bStride, dst, dstStride, rows, cols, acc, (x, y) => f(x * y));
}

/** dst[r, c] = x[r, c] + bias[c]. */
export function addBiasF32(
  m: Views,
  x: number,
  xStride: number,
  bias: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
): void {
  zipRows(m, x, xStride, bias, 0, dst, dstStride, rows, cols, 0, (value, shift) => f(value + shift));
}

/** dst (+)= factor * src. */
export function scaleF32(
  m: Views,
  src: number,
  srcStride: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  factor: number,
  acc: number,
): void {
  const scale = f(factor);
  mapRows(m, src, srcStride, dst, dstStride, rows, cols, acc, (x) => f(scale * x));
}

/** dst[r, :] (+)= scale[r] * src[r, :]. */
export function scaleRowsF32(
  m: Views,
  scale: number,
  scaleStride: number,
  src: number,
  srcStride: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  acc: number,
): void {
  for (let r = 0; r < rows; r++) {
    const factor = m.f32[(scale >>> 2) + r * scaleStride]!;
    scaleF32(m, src + r * srcStride * 4, srcStride, dst + r * dstStride * 4, dstStride, 1, cols, factor, acc);
  }
}

/** dst[r, c] (+)= factor * src[0]. */
export function broadcastScalarF32(
  m: Views,
  src: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  factor: number,
  acc: number,
): void {
  const value = f(f(factor) * m.f32[src >>> 2]!);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) put(m, (dst >>> 2) + r * dstStride + c, value, acc);
  }
}
