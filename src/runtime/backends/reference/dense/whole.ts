/** @file Reductions along rows, norms of many tensors and extremes over the batch, in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';

const f = Math.fround;

/** out[r] = factor * (sum of row r), in f64 from left to right, rounded once. */
export const sumColumnsF32 = twin(KERNEL.sumColumnsF32, (m, { src, srcStride, rows, cols, out, outStride, factor }) => {
  for (let r = 0; r < rows; r++) {
    let sum = 0;
    for (let c = 0; c < cols; c++) sum += m.f32[(src >>> 2) + r * srcStride + c]!;
    m.f32[(out >>> 2) + r * outStride] = f(factor) * sum;
  }
});

/** out[r] = largest of row r, -Infinity when it is empty. */
export const maxColumnsF32 = twin(KERNEL.maxColumnsF32, (m, { src, srcStride, rows, cols, out, outStride }) => {
  for (let r = 0; r < rows; r++) {
    const at = (src >>> 2) + r * srcStride;
    m.f32[(out >>> 2) + r * outStride] = Math.max(...m.f32.subarray(at, at + cols));
  }
});

/** dst[c] = largest of column c, -Infinity when there are no rows. */
export const maxRowsF32 = twin(KERNEL.maxRowsF32, (m, { src, srcStride, dst, rows, cols }) => {
  for (let c = 0; c < cols; c++) {
    let most = Number.NEGATIVE_INFINITY;
    for (let r = 0; r < rows; r++) most = Math.max(most, m.f32[(src >>> 2) + r * srcStride + c]!);
    m.f32[(dst >>> 2) + c] = most;
  }
});

/** dst[i] = sum of squares of the `grain` floats from i * grain, as f64: four running sums, then the rest. */
export const sumSquaresF64 = twin(KERNEL.sumSquaresF64, (m, { src, count, grain, dst }) => {
  const at = src >>> 2;
  for (let from = 0; from < count; from += grain) {
    const end = Math.min(from + grain, count);
    const sums: [number, number, number, number] = [0, 0, 0, 0];
    let i = from;
    for (; i + 4 <= end; i += 4) {
      for (let lane = 0; lane < 4; lane++) sums[lane]! += m.f32[at + i + lane]! * m.f32[at + i + lane]!;
    }
    let sum = sums[0] + sums[1] + (sums[2] + sums[3]);
    for (; i < end; i++) sum += m.f32[at + i]! * m.f32[at + i]!;
    new Float64Array(m.buffer, dst + (from / grain) * 8, 1)[0] = sum;
  }
});

/** dst[0] = square root of the sum of `count` f64. */
export const rootOfSumF32 = twin(KERNEL.rootOfSumF32, (m, { src, count, dst }) => {
  m.f32[dst >>> 2] = Math.sqrt(new Float64Array(m.buffer, src, count).reduce((sum, x) => sum + x, 0));
});

/** dst = src * (clipNorm / norm[0]) when the norm is larger, else src. A NaN norm is not larger. */
export const clipToNormF32 = twin(KERNEL.clipToNormF32, (m, { src, norm, dst, count, clipNorm }) => {
  const size = m.f32[norm >>> 2]!;
  const factor = size > f(clipNorm) ? f(f(clipNorm) / size) : 1;
  for (let i = 0; i < count; i++) m.f32[(dst >>> 2) + i] = factor * m.f32[(src >>> 2) + i]!;
});
