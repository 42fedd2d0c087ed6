/** @file The walk over the elements of strided matrices that the reference kernels share. */
import type { Views } from '../../../../memory/views.js';

const f = Math.fround;

/** dst (+)= value, one element; `index` counts floats. */
export function put(m: Views, index: number, value: number, acc: number): void {
  m.f32[index] = acc ? f(m.f32[index]! + value) : value;
}

/** dst[r, c] (+)= f(x[r, c]). */
export function mapRows(
  m: Views,
  x: number,
  xStride: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  acc: number,
  map: (x: number) => number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      put(m, (dst >>> 2) + r * dstStride + c, map(m.f32[(x >>> 2) + r * xStride + c]!), acc);
    }
  }
}

/** dst[r, c] (+)= f(a[r, c], b[r, c]). */
export function zipRows(
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
  zip: (a: number, b: number) => number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const value = zip(m.f32[(a >>> 2) + r * aStride + c]!, m.f32[(b >>> 2) + r * bStride + c]!);
      put(m, (dst >>> 2) + r * dstStride + c, value, acc);
    }
  }
}
