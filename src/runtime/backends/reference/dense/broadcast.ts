/** @file Elementwise kernels whose operands may repeat, in plain TypeScript. */
import type { Views } from '../../../../memory/views.js';
import { mapRows, put } from './loops.js';

const f = Math.fround;

const PAIRS: readonly ((x: number, y: number) => number)[] = [
  (x, y) => f(x + y),
  (x, y) => f(x - y),
  (x, y) => f(x * y),
  (x, y) => f(x / y),
  Math.max,
  Math.min,
  (x, y) => (x >= y ? 1 : 0),
  (x, y) => (x === y ? 1 : 0),
];

/** dst = a op b, where a stride of 0 repeats a row and a step of 0 an element. Comparisons give 1 or 0. */
export function binaryF32(
  m: Views,
  kind: number,
  a: number,
  aStride: number,
  aStep: number,
  b: number,
  bStride: number,
  bStep: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
): void {
  const pair = PAIRS[kind]!;
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const [x, y] = [m.f32[(a >>> 2) + r * aStride + c * aStep]!, m.f32[(b >>> 2) + r * bStride + c * bStep]!];
      m.f32[(dst >>> 2) + r * dstStride + c] = pair(x, y);
    }
  }
}

const SINGLES: readonly ((x: number) => number)[] = [
  Math.abs,
  (x) => f(Math.sqrt(x)),
  (x) => f(Math.exp(x)),
  (x) => f(Math.log(x)),
  (x) => (x > 0 ? 1 : x < 0 ? -1 : 0),
];

/** y = op x. The sign of NaN is 0. */
export function unaryF32(
  m: Views,
  kind: number,
  x: number,
  xStride: number,
  y: number,
  yStride: number,
  rows: number,
  cols: number,
): void {
  mapRows(m, x, xStride, y, yStride, rows, cols, 0, SINGLES[kind]!);
}

/** dst[r, c] (+)= factor * src[r * srcStride + c * srcStep]. */
export function broadcastF32(
  m: Views,
  src: number,
  srcStride: number,
  srcStep: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  factor: number,
  acc: number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const value = f(f(factor) * m.f32[(src >>> 2) + r * srcStride + c * srcStep]!);
      put(m, (dst >>> 2) + r * dstStride + c, value, acc);
    }
  }
}
