/** @file Ragged ids as sequences of at most `n` positions per example, in plain TypeScript. */

import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import { IdSums } from './id-sums.js';
import { twin } from './twin.js';

/** Values of example r, and where its first one is, counted from those of example 0. */
function rowOf(m: Views, splits: number, r: number): { length: number; first: number } {
  const at = splits / 4;
  return { length: m.i32[at + r + 1]! - m.i32[at + r]!, first: m.i32[at + r]! - m.i32[at]! };
}

/** dst[r, j] = 1 for the first min(length of row r, n) positions, else 0. */
export const seqMaskF32 = twin(KERNEL.seqMaskF32, (m, { splits, rows, n, dst, dstStride }) => {
  for (let r = 0; r < rows; r++) {
    const { length } = rowOf(m, splits, r);
    for (let j = 0; j < n; j++) m.f32[dst / 4 + r * dstStride + j] = j < length ? 1 : 0;
  }
});

/** out[r, j, :] = the row of the j-th id of example r, for j below n; zeros where there is none. */
export const firstNF32 = twin(KERNEL.firstNF32, (m, { rowPtrs, inverse, splits, rows, dim, n, out, outStride }) => {
  for (let r = 0; r < rows; r++) {
    const { length, first } = rowOf(m, splits, r);
    for (let j = 0; j < n; j++) {
      const to = out / 4 + r * outStride + j * dim;
      if (j >= length) {
        m.f32.fill(0, to, to + dim);
        continue;
      }
      const row = m.u32[rowPtrs / 4 + m.u32[inverse / 4 + first + j]!]! / 4;
      m.f32.copyWithin(to, row, row + dim);
    }
  }
});

/** ugrad[inverse[j], :] += grad[r, j, :] for the positions that have an id; sums as in scatterAddF32. */
export const firstNGradF32 = twin(
  KERNEL.firstNGradF32,
  (m, { grad, gradStride, inverse, splits, rows, dim, n, ugrad, ugradStride, scratch }) => {
    let used = 0;
    for (let r = 0; r < rows; r++) used += Math.min(rowOf(m, splits, r).length, n);
    const blocks = IdSums.of(m, scratch, used, ugrad, ugradStride, dim);
    for (let r = 0; r < rows; r++) {
      const { length, first } = rowOf(m, splits, r);
      for (let j = 0; j < Math.min(length, n); j++) {
        const id = m.u32[inverse / 4 + first + j]!;
        const to = ugrad / 4 + id * ugradStride;
        for (let c = 0; c < dim; c++) m.f32[to + c]! += m.f32[grad / 4 + r * gradStride + j * dim + c]!;
        blocks?.note(id);
      }
    }
    blocks?.end();
  },
);
