/** @file Rows with values that all examples share, in plain TypeScript. */
import type { Views } from '../../../../memory/views.js';
import { sumColumn } from './block-sums.js';
import { put } from './loops.js';

const f = Math.fround;

/** out[r, p, c] (+)= x[r, p, c] + v[c]. */
export function addSharedF32(
  m: Views,
  x: number,
  xStride: number,
  v: number,
  out: number,
  outStride: number,
  rows: number,
  cols: number,
  period: number,
  acc: number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const value = f(m.f32[(x >>> 2) + r * xStride + c]! + m.f32[(v >>> 2) + (c % period)]!);
      put(m, (out >>> 2) + r * outStride + c, value, acc);
    }
  }
}

/** out[r, p, c] (+)= x[r, p, c] * v[c]. */
export function mulSharedF32(
  m: Views,
  x: number,
  xStride: number,
  v: number,
  out: number,
  outStride: number,
  rows: number,
  cols: number,
  period: number,
  acc: number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const value = f(m.f32[(x >>> 2) + r * xStride + c]! * m.f32[(v >>> 2) + (c % period)]!);
      put(m, (out >>> 2) + r * outStride + c, value, acc);
    }
  }
}

/** dst[c] = sum over r and p, in order, of a[r, p, c] * b[r, p, c], or of a[r, p, c] alone when `b` is 0. */
export function sumSharedF32(
  m: Views,
  a: number,
  aStride: number,
  b: number,
  bStride: number,
  dst: number,
  rows: number,
  cols: number,
  period: number,
): void {
  const pieces = cols / period;
  for (let c = 0; c < period; c++) {
    m.f32[(dst >>> 2) + c] = sumColumn(rows * pieces, 0, (i) => {
      const [r, at] = [Math.floor(i / pieces), (i % pieces) * period + c];
      const x = m.f32[(a >>> 2) + r * aStride + at]!;
      return b === 0 ? x : f(x * m.f32[(b >>> 2) + r * bStride + at]!);
    });
  }
}
