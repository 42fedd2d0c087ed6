/** @file Matrix product in plain TypeScript: the plain loops that the WASM kernel equals bit for bit. */

import type { Views } from '../../../../memory/views.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { blockK } from './block-sums.js';

const f = Math.fround;

/** C (+)= A * B, summed over k in blocks, each in increasing order from 0. Needs no scratch and leaves it alone. */
export const gemmF32 = twin(
  KERNEL.gemmF32,
  (memory, { a, aRowStride, aColStride, b, bRowStride, bColStride, c, cStride, m, n, k, acc }) => {
    const steps = blockK(k);
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        const at = (c >>> 2) + i * cStride + j;
        let isFirst = acc === 0;
        if (k === 0 && isFirst) memory.f32[at] = 0;
        for (let first = 0; first < k; first += steps) {
          let sum = 0;
          for (let p = first; p < Math.min(first + steps, k); p++) {
            const left = memory.f32[(a >>> 2) + i * aRowStride + p * aColStride]!;
            const right = memory.f32[(b >>> 2) + p * bRowStride + j * bColStride]!;
            sum = f(sum + f(left * right));
          }
          memory.f32[at] = isFirst ? sum : memory.f32[at]! + sum;
          isFirst = false;
        }
      }
    }
  },
);

/** The triple loop uses no scratch. */
export function gemmScratchBytes(_memory: Views, _m: number, _n: number, _k: number): number {
  return 0;
}
