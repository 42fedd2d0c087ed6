/** @file The loss over all pairs of a positive and a negative of the batch, in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { put } from './loops.js';

const f = Math.fround;
const IGNORED = -10000;

const isPositive = (label: number) => label > 0;
const isNegative = (label: number) => label <= 0 && label > IGNORED;

/** dst[0] = sum over positives p of the rows [first, first + count) and all negatives n of log sigmoid(x[p] - x[n]). */
export const inbatchAucF32 = twin(KERNEL.inbatchAucF32, (m, { labels, logits, rows, first, count, dst }) => {
  const [label, logit] = [m.f32.subarray(labels >>> 2), m.f32.subarray(logits >>> 2)];
  let sum = 0;
  for (let p = first; p < first + count; p++) {
    if (!isPositive(label[p]!)) continue;
    for (let n = 0; n < rows; n++) {
      if (!isNegative(label[n]!)) continue;
      const d = f(logit[p]! - logit[n]!);
      sum += Math.min(d, 0) - Math.log1p(Math.exp(-Math.abs(d)));
    }
  }
  m.f32[dst >>> 2] = sum;
});

/**
 * dst[i] (+)= gradient of inbatchAucF32 by the logit of row first + i, times grad[0]; that of a negative is weighed.
 */
export const inbatchAucGradF32 = twin(
  KERNEL.inbatchAucGradF32,
  (m, { labels, logits, rows, first, count, grad, negWeight, dst, dstStride, acc }) => {
    const [label, logit] = [m.f32.subarray(labels >>> 2), m.f32.subarray(logits >>> 2)];
    const scale = m.f32[grad >>> 2]!;
    for (let i = 0; i < count; i++) {
      const own = label[first + i]!;
      const positive = isPositive(own);
      let sum = 0;
      if (positive || isNegative(own)) {
        for (let j = 0; j < rows; j++) {
          if (!(positive ? isNegative(label[j]!) : isPositive(label[j]!))) continue;
          const d = f(positive ? logit[first + i]! - logit[j]! : logit[j]! - logit[first + i]!);
          sum += 1 / (1 + Math.exp(d));
        }
      }
      put(m, (dst >>> 2) + i * dstStride, f(scale * (positive ? sum : -f(negWeight) * sum)), acc);
    }
  },
);
