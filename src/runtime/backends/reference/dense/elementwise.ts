/** @file Elementwise kernels in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { map, zip } from './combinators.js';
import { put } from './loops.js';

const f = Math.fround;

export const subF32 = zip(KERNEL.subF32, (a, b) => f(a - b));
export const mulF32 = zip(KERNEL.mulF32, (a, b) => f(a * b));
export const addBiasF32 = zip(KERNEL.addBiasF32, (x, bias) => f(x + bias));
export const scaleF32 = map(KERNEL.scaleF32, (x, { factor }) => f(f(factor) * x));
export const scaleColumnsF32 = zip(KERNEL.scaleColumnsF32, (x, factor) => f(x * factor));

/** dst[r, :] (+)= scale[r] * src[r, :]. */
export const scaleRowsF32 = twin(
  KERNEL.scaleRowsF32,
  (m, { scale, scaleStride, src, srcStride, dst, dstStride, rows, cols, acc }) => {
    for (let r = 0; r < rows; r++) {
      const factor = m.f32[(scale >>> 2) + r * scaleStride]!;
      scaleF32(m, src + r * srcStride * 4, srcStride, dst + r * dstStride * 4, dstStride, 1, cols, factor, acc);
    }
  },
);

/** dst[r, c] (+)= factor * src[0]. */
export const broadcastScalarF32 = twin(
  KERNEL.broadcastScalarF32,
  (m, { src, dst, dstStride, rows, cols, factor, acc }) => {
    const value = f(f(factor) * m.f32[src >>> 2]!);
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) put(m, (dst >>> 2) + r * dstStride + c, value, acc);
    }
  },
);
