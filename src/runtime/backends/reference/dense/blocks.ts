/** @file Moves parts of rows, in plain TypeScript: a row is read as [outer, n, inner] floats. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { put } from './loops.js';
import { moveRun } from './runs.js';

/** For each of `blocks`: dst[r, b * dstStep + c] (+)= src[r, b * srcStep + c]. */
export const copyBlocksF32 = twin(
  KERNEL.copyBlocksF32,
  (m, { src, srcStride, srcStep, dst, dstStride, dstStep, rows, blocks, width, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let b = 0; b < blocks; b++) {
        const [from, to] = [(src >>> 2) + r * srcStride + b * srcStep, (dst >>> 2) + r * dstStride + b * dstStep];
        moveRun(m, from, to, width, acc);
      }
    }
  },
);

/** dst[r, o, j, i] (+)= src[r, o, i, j]. */
export const transposeInnerF32 = twin(
  KERNEL.transposeInnerF32,
  (m, { src, srcStride, dst, dstStride, rows, outer, n, inner, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let at = 0; at < outer * n * inner; at++) {
        const [o, i, j] = [Math.floor(at / (n * inner)), Math.floor(at / inner) % n, at % inner];
        const to = (o * inner + j) * n + i;
        put(m, (dst >>> 2) + r * dstStride + to, m.f32[(src >>> 2) + r * srcStride + at]!, acc);
      }
    }
  },
);

/** dst[r, o, k, :] (+)= src[r, o, indices[k], :]. */
export const gatherInnerF32 = twin(
  KERNEL.gatherInnerF32,
  (m, { src, srcStride, dst, dstStride, rows, outer, n, inner, indices, count, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let o = 0; o < outer; o++) {
        for (let k = 0; k < count; k++) {
          const from = (src >>> 2) + r * srcStride + (o * n + m.u32[(indices >>> 2) + k]!) * inner;
          moveRun(m, from, (dst >>> 2) + r * dstStride + (o * count + k) * inner, inner, acc);
        }
      }
    }
  },
);

/** dst[r, o, indices[k], :] += src[r, o, k, :], from 0 unless `acc` is set. */
export const scatterInnerF32 = twin(
  KERNEL.scatterInnerF32,
  (m, { src, srcStride, dst, dstStride, rows, outer, n, inner, indices, count, acc }) => {
    for (let r = 0; r < rows; r++) {
      const row = (dst >>> 2) + r * dstStride;
      if (!acc) m.f32.fill(0, row, row + outer * n * inner);
      for (let o = 0; o < outer; o++) {
        for (let k = 0; k < count; k++) {
          const to = row + (o * n + m.u32[(indices >>> 2) + k]!) * inner;
          moveRun(m, (src >>> 2) + r * srcStride + (o * count + k) * inner, to, inner, 1);
        }
      }
    }
  },
);
