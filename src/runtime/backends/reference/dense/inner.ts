/** @file Reductions over an inner dimension in plain TypeScript: a row is read as [outer, n, inner] floats. */

import type { Views } from '../../../../memory/views.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { put } from './loops.js';
import { scaleRun, sumTerms } from './runs.js';

const f = Math.fround;

/** Calls `visit` with the place of a result and a reader of what is reduced to it. */
function forEachResult(
  m: Views,
  src: number,
  srcStride: number,
  [rows, outer, n, inner]: readonly [number, number, number, number],
  visit: (row: number, result: number, value: (j: number) => number) => void,
): void {
  for (let r = 0; r < rows; r++) {
    for (let at = 0; at < outer * inner; at++) {
      const first = (src >>> 2) + r * srcStride + Math.floor(at / inner) * n * inner + (at % inner);
      visit(r, at, (j) => m.f32[first + j * inner]!);
    }
  }
}

/** dst[r, o, i] (+)= factor * sum over j of src[r, o, j, i]. */
export const sumInnerF32 = twin(
  KERNEL.sumInnerF32,
  (m, { src, srcStride, dst, dstStride, rows, outer, n, inner, factor, acc }) => {
    forEachResult(m, src, srcStride, [rows, outer, n, inner], (r, at, value) => {
      let sum = 0;
      if (inner === 1) sum = sumTerms(value, n);
      else for (let j = 0; j < n; j++) sum = f(sum + value(j));
      put(m, (dst >>> 2) + r * dstStride + at, f(f(factor) * sum), acc);
    });
  },
);

/** dst[r, o, i] (+)= the largest src[r, o, j, i]. */
export const maxInnerF32 = twin(
  KERNEL.maxInnerF32,
  (m, { src, srcStride, dst, dstStride, rows, outer, n, inner, acc }) => {
    forEachResult(m, src, srcStride, [rows, outer, n, inner], (r, at, value) => {
      let top = value(0);
      for (let j = 1; j < n; j++) top = Math.max(top, value(j));
      put(m, (dst >>> 2) + r * dstStride + at, top, acc);
    });
  },
);

/** dx[r, o, j, i] (+)= dy[r, o, i] shared equally among the x that equal y, else 0. */
export const maxInnerGradF32 = twin(
  KERNEL.maxInnerGradF32,
  (m, { dy, dyStride, x, xStride, y, yStride, dx, dxStride, rows, outer, n, inner, acc }) => {
    forEachResult(m, x, xStride, [rows, outer, n, inner], (r, at, value) => {
      const top = m.f32[(y >>> 2) + r * yStride + at]!;
      let ties = 0;
      for (let j = 0; j < n; j++) if (value(j) === top) ties++;
      const share = f(m.f32[(dy >>> 2) + r * dyStride + at]! / ties);
      const first = (dx >>> 2) + r * dxStride + Math.floor(at / inner) * n * inner + (at % inner);
      for (let j = 0; j < n; j++) put(m, first + j * inner, value(j) === top ? share : 0, acc);
    });
  },
);

/** dst[r, o, j, i] (+)= factor * src[r, o, i]. */
export const broadcastInnerF32 = twin(
  KERNEL.broadcastInnerF32,
  (m, { src, srcStride, dst, dstStride, rows, outer, n, inner, factor, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let o = 0; o < outer; o++) {
        const from = (src >>> 2) + r * srcStride + o * inner;
        for (let j = 0; j < n; j++) {
          scaleRun(m, f(factor), from, (dst >>> 2) + r * dstStride + (o * n + j) * inner, inner, acc);
        }
      }
    }
  },
);
