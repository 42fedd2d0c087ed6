/** @file Row kernels in plain TypeScript. */

import type { Views } from '../../../../memory/views.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { mapRows, put } from './loops.js';

const f = Math.fround;

/** dst (+)= src. */
export const copyRowsF32 = twin(KERNEL.copyRowsF32, (m, { src, srcStride, dst, dstStride, rows, cols, acc }) => {
  mapRows(m, src, srcStride, dst, dstStride, rows, cols, acc, (x) => x);
});

/** The dot product of two runs of floats, in the order rowDotF32 documents. */
function dot(m: Views, a: number, b: number, cols: number): number {
  const product = (c: number) => f(m.f32[a + c]! * m.f32[b + c]!);
  const p = new Float32Array(8);
  let c = 0;
  for (; c + 8 <= cols; c += 8) for (let i = 0; i < 8; i++) p[i]! += product(c + i);
  const q = Float32Array.from({ length: 4 }, (_, i) => p[i]! + p[i + 4]!);
  if (c + 4 <= cols) {
    for (let i = 0; i < 4; i++) q[i]! += product(c + i);
    c += 4;
  }
  let sum = f(f(q[0]! + q[2]!) + f(q[1]! + q[3]!));
  for (; c < cols; c++) sum = f(sum + product(c));
  return sum;
}

/** out[r] (+)= sum over c of a[r, c] * b[r, c]. */
export const rowDotF32 = twin(KERNEL.rowDotF32, (m, { a, aStride, b, bStride, out, outStride, rows, cols, acc }) => {
  for (let r = 0; r < rows; r++) {
    const sum = dot(m, (a >>> 2) + r * aStride, (b >>> 2) + r * bStride, cols);
    put(m, (out >>> 2) + r * outStride, sum, acc);
  }
});
