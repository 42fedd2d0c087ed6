/** @file Factors and dot products per group, in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { put } from './loops.js';
import { dotRun, scaleRun } from './runs.js';

/** dst[r, g, :] (+)= factors[r, g] * src[r, g, :]. */
export const scaleGroupsF32 = twin(
  KERNEL.scaleGroupsF32,
  (m, { factors, factorsStride, src, srcStride, dst, dstStride, rows, groups, width, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let g = 0; g < groups; g++) {
        const factor = m.f32[(factors >>> 2) + r * factorsStride + g]!;
        const at = g * width;
        scaleRun(m, factor, (src >>> 2) + r * srcStride + at, (dst >>> 2) + r * dstStride + at, width, acc);
      }
    }
  },
);

/** out[r, g] (+)= dot of a[r, g, :] and b[r, g, :]. */
export const groupDotF32 = twin(
  KERNEL.groupDotF32,
  (m, { a, aStride, b, bStride, out, outStride, rows, groups, width, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let g = 0; g < groups; g++) {
        const [x, y] = [(a >>> 2) + r * aStride + g * width, (b >>> 2) + r * bStride + g * width];
        put(m, (out >>> 2) + r * outStride + g, dotRun(m, x, y, width), acc);
      }
    }
  },
);
