/** @file The softmax over all rows of the batch, in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { put } from './loops.js';

const f = Math.fround;

/** The dot product of `dim` floats at two places. */
function dot(floats: Float32Array, a: number, b: number, dim: number): number {
  let sum = 0;
  for (let k = 0; k < dim; k++) sum += floats[a + k]! * floats[b + k]!;
  return sum;
}

/** sums[r] = log of the sum over rows j of exp(x[r] . others[j]); loss[r] is that less the score of its own partner. */
export const inbatchSoftmaxF32 = twin(
  KERNEL.inbatchSoftmaxF32,
  (m, { others, rows, first, count, dim, x, xStride, loss, lossStride, sums, sumsStride }) => {
    const [from, own] = [others >>> 2, x >>> 2];
    for (let r = 0; r < count; r++) {
      const scores = Array.from({ length: rows }, (_, j) => dot(m.f32, own + r * xStride, from + j * dim, dim));
      const most = scores.reduce((max, score) => Math.max(max, score), Number.NEGATIVE_INFINITY);
      const total = most + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - most), 0));
      m.f32[(sums >>> 2) + r * sumsStride] = f(total);
      m.f32[(loss >>> 2) + r * lossStride] = f(total - scores[first + r]!);
    }
  },
);

/** dx[r] (+)= gradient of inbatchSoftmaxF32 by one side; gradients and sums are of rows j with `byOther`. */
export const inbatchSoftmaxGradF32 = twin(
  KERNEL.inbatchSoftmaxGradF32,
  (m, { others, grads, sums, rows, first, count, dim, byOther, x, xStride, dx, dxStride, acc }) => {
    const [from, own, grad, sum] = [others >>> 2, x >>> 2, grads >>> 2, sums >>> 2];
    for (let r = 0; r < count; r++) {
      const out = new Float64Array(dim);
      for (let j = 0; j < rows; j++) {
        const at = byOther ? j : first + r;
        const score = dot(m.f32, own + r * xStride, from + j * dim, dim);
        const factor = m.f32[grad + at]! * Math.exp(Math.min(score - m.f32[sum + at]!, 0));
        for (let k = 0; k < dim; k++) out[k]! += factor * m.f32[from + j * dim + k]!;
      }
      for (let k = 0; k < dim; k++) {
        const value = out[k]! - m.f32[grad + first + r]! * m.f32[from + (first + r) * dim + k]!;
        put(m, (dx >>> 2) + r * dxStride + k, f(value), acc);
      }
    }
  },
);
