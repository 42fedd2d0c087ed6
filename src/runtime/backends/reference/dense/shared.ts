/** @file Rows with values that all examples share, in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { sumColumn } from './block-sums.js';
import { put } from './loops.js';

const f = Math.fround;

/** out[r, p, c] (+)= x[r, p, c] + v[c]. */
export const addSharedF32 = twin(
  KERNEL.addSharedF32,
  (m, { x, xStride, v, out, outStride, rows, cols, period, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) {
        const value = f(m.f32[(x >>> 2) + r * xStride + c]! + m.f32[(v >>> 2) + (c % period)]!);
        put(m, (out >>> 2) + r * outStride + c, value, acc);
      }
    }
  },
);

/** out[r, p, c] (+)= x[r, p, c] * v[c]. */
export const mulSharedF32 = twin(
  KERNEL.mulSharedF32,
  (m, { x, xStride, v, out, outStride, rows, cols, period, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) {
        const value = f(m.f32[(x >>> 2) + r * xStride + c]! * m.f32[(v >>> 2) + (c % period)]!);
        put(m, (out >>> 2) + r * outStride + c, value, acc);
      }
    }
  },
);

/** dst[c] = sum over r and p, in order, of a[r, p, c] * b[r, p, c], or of a[r, p, c] alone when `b` is 0. */
export const sumSharedF32 = twin(KERNEL.sumSharedF32, (m, { a, aStride, b, bStride, dst, rows, cols, period }) => {
  const pieces = cols / period;
  for (let c = 0; c < period; c++) {
    m.f32[(dst >>> 2) + c] = sumColumn(rows * pieces, 0, (i) => {
      const [r, at] = [Math.floor(i / pieces), (i % pieces) * period + c];
      const x = m.f32[(a >>> 2) + r * aStride + at]!;
      return b === 0 ? x : f(x * m.f32[(b >>> 2) + r * bStride + at]!);
    });
  }
});
