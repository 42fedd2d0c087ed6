/** @file Rectifiers with a slope below zero, and a factor per column, in plain TypeScript. */
import type { Views } from '../../../../memory/views.js';
import { sumColumn } from './block-sums.js';
import { mapRows, put, zipRows } from './loops.js';

const f = Math.fround;

/** y = x where x > 0, else slope * x. */
export function leakyReluF32(
  m: Views,
  x: number,
  xStride: number,
  y: number,
  yStride: number,
  rows: number,
  cols: number,
  slope: number,
): void {
  mapRows(m, x, xStride, y, yStride, rows, cols, 0, (v) => (v > 0 ? v : f(v * f(slope))));
}

/** dx (+)= dy where x > 0, else slope * dy. */
export function leakyReluGradF32(
  m: Views,
  dy: number,
  dyStride: number,
  x: number,
  xStride: number,
  dx: number,
  dxStride: number,
  rows: number,
  cols: number,
  slope: number,
  acc: number,
): void {
  zipRows(m, dy, dyStride, x, xStride, dx, dxStride, rows, cols, acc, (g, v) => (v > 0 ? g : f(g * f(slope))));
}

/** y[r, c] = x[r, c] where that is above 0, else slope[c] * x[r, c]. */
export function preluF32(
  m: Views,
  x: number,
  xStride: number,
  slope: number,
  y: number,
  yStride: number,
  rows: number,
  cols: number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const v = m.f32[(x >>> 2) + r * xStride + c]!;
      m.f32[(y >>> 2) + r * yStride + c] = v > 0 ? v : f(v * m.f32[(slope >>> 2) + c]!);
    }
  }
}

/** dx[r, c] (+)= dy[r, c] where x[r, c] > 0, else slope[c] * dy[r, c]. */
export function preluGradF32(
  m: Views,
  dy: number,
  dyStride: number,
  x: number,
  xStride: number,
  slope: number,
  dx: number,
  dxStride: number,
  rows: number,
  cols: number,
  acc: number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const grad = m.f32[(dy >>> 2) + r * dyStride + c]!;
      const value = m.f32[(x >>> 2) + r * xStride + c]! > 0 ? grad : f(grad * m.f32[(slope >>> 2) + c]!);
      put(m, (dx >>> 2) + r * dxStride + c, value, acc);
    }
  }
}

/** dslope[c] = sum over r of dy[r, c] * x[r, c] where x[r, c] is not above 0, from 0 in row order. */
export function preluSlopeGradF32(
  m: Views,
  dy: number,
  dyStride: number,
  x: number,
  xStride: number,
  dslope: number,
  rows: number,
  cols: number,
): void {
  for (let c = 0; c < cols; c++) {
    m.f32[(dslope >>> 2) + c] = sumColumn(rows, 0, (r) => {
      const v = m.f32[(x >>> 2) + r * xStride + c]!;
      return v > 0 ? 0 : f(m.f32[(dy >>> 2) + r * dyStride + c]! * v);
    });
  }
}

/** dst[r, c] (+)= factor[c] * x[r, c]. */
export function scaleColumnsF32(
  m: Views,
  x: number,
  xStride: number,
  factor: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  acc: number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const value = f(m.f32[(x >>> 2) + r * xStride + c]! * m.f32[(factor >>> 2) + c]!);
      put(m, (dst >>> 2) + r * dstStride + c, value, acc);
    }
  }
}
