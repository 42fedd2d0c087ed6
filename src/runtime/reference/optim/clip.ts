/** @file Clipping of gradients in plain TypeScript: assembly/optim/clip.ts says the order of the sums. */
import { GRADIENT_BLOCK } from '../../../memory/dense-layout.js';
import type { Views } from '../../../memory/views.js';
import { sumSquaresF64 } from './terms.js';

const f = Math.fround;

/** dst = min(max(src, low), high). NaN stays. */
export function clipValueF32({ f32 }: Views, src: number, dst: number, n: number, low: number, high: number): void {
  for (let i = 0; i < n; i++) f32[(dst >>> 2) + i] = Math.min(Math.max(f32[(src >>> 2) + i]!, f(low)), f(high));
}

/** sums[i] = sum of squares of block i of x, f64. */
export function blockSquaresF32(m: Views, x: number, n: number, sums: number): void {
  for (let block = 0; block * GRADIENT_BLOCK < n; block++) {
    const count = Math.min(GRADIENT_BLOCK, n - block * GRADIENT_BLOCK);
    m.f64[(sums >>> 3) + block] = sumSquaresF64(m, (x >>> 2) + block * GRADIENT_BLOCK, count);
  }
}

/** dst[0] = the sum of `count` f64 that lie `stride` bytes apart, in order; with `acc` added to what is there. */
export function addSumsF64(
  { f64 }: Views,
  sums: number,
  stride: number,
  count: number,
  dst: number,
  acc: number,
): void {
  let sum = acc ? f64[dst >>> 3]! : 0;
  for (let i = 0; i < count; i++) sum += f64[(sums + i * stride) >>> 3]!;
  f64[dst >>> 3] = sum;
}

/** dst[0] = the square root of an f64, as f32. */
export function rootF64(m: Views, x: number, dst: number): void {
  m.f32[dst >>> 2] = Math.sqrt(m.f64[x >>> 3]!);
}

/** dst[0] = the sum of squares of a matrix in f64, row after row. */
export function rowSquaresF64(m: Views, src: number, stride: number, rows: number, cols: number, dst: number): void {
  let sum = 0;
  for (let r = 0; r < rows; r++) sum += sumSquaresF64(m, (src >>> 2) + r * stride, cols);
  m.f64[dst >>> 3] = sum;
}

/** dst = src, times clip / norm where the norm at `norm` is larger than `clip`. */
export function clipByNormF32(
  { f32 }: Views,
  src: number,
  srcStride: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  norm: number,
  clip: number,
): void {
  const length = f32[norm >>> 2]!;
  const factor = length > f(clip) ? f(f(clip) / length) : 1;
  for (let r = 0; r < rows; r++) {
    const [from, to] = [(src >>> 2) + r * srcStride, (dst >>> 2) + r * dstStride];
    for (let i = 0; i < cols; i++) f32[to + i] = f32[from + i]! * factor;
  }
}
