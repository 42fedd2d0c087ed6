/** @file Reductions in plain TypeScript, each in the one order its kernel documents. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { sumColumn } from './block-sums.js';

const f = Math.fround;

/** dst[c] (+)= the sum over r of src[r, c]. */
export const sumRowsF32 = twin(KERNEL.sumRowsF32, (m, { src, srcStride, dst, rows, cols, acc }) => {
  for (let c = 0; c < cols; c++) {
    const start = acc ? m.f32[(dst >>> 2) + c]! : 0;
    m.f32[(dst >>> 2) + c] = sumColumn(rows, start, (r) => m.f32[(src >>> 2) + r * srcStride + c]!);
  }
});

/** dst[0] = factor * (sum of all elements), summed in f64 in row-major order. */
export const sumF32 = twin(KERNEL.sumF32, (m, { src, srcStride, rows, cols, dst, factor }) => {
  let sum = 0;
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) sum += m.f32[(src >>> 2) + r * srcStride + c]!;
  }
  m.f32[dst >>> 2] = f(factor) * sum;
});

/** dst[i] = (src[0][i] + src[1][i]) + ... in slice order; 0 when there are no slices. */
export const reduceSlicesF32 = twin(KERNEL.reduceSlicesF32, (m, { src, sliceStride, slices, dst, n }) => {
  for (let i = 0; i < n; i++) {
    let sum = slices > 0 ? m.f32[(src >>> 2) + i]! : 0;
    for (let s = 1; s < slices; s++) sum = f(sum + m.f32[(src >>> 2) + s * sliceStride + i]!);
    m.f32[(dst >>> 2) + i] = sum;
  }
});
