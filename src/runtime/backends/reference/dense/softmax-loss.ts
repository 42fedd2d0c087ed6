/** @file Cross entropy of a row of logits in plain TypeScript, in f64 until the result is stored. */

import type { Views } from '../../../../memory/views.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { put } from './loops.js';

const f = Math.fround;

/** The label of each class of a row: given, or 1 for the class that is named; NaN when there is no such class. */
function labelsOf(m: Views, label: number, cols: number, index: number): number[] {
  const at = label >>> 2;
  if (!index) return Array.from({ length: cols }, (_, c) => m.f32[at + c]!);
  const named = m.f32[at]!;
  const exists = Number.isInteger(named) && named >= 0 && named < cols;
  return Array.from({ length: cols }, (_, c) => (exists ? Number(c === named) : Number.NaN));
}

/** out[r] = sum over c of label[r, c] * (logsumexp(x[r, :]) - x[r, c]). */
export const softmaxLossF32 = twin(
  KERNEL.softmaxLossF32,
  (m, { x, xStride, label, labelStride, out, outStride, rows, cols, index }) => {
    for (let r = 0; r < rows; r++) {
      const row = Array.from({ length: cols }, (_, c) => m.f32[(x >>> 2) + r * xStride + c]!);
      const top = Math.max(...row);
      const log = Math.log(row.reduce((sum, v) => sum + Math.exp(v - top), 0));
      let loss = 0;
      labelsOf(m, label + r * labelStride * 4, cols, index).forEach((weight, c) => {
        // A class that is not named takes no part, whatever its logit.
        if (!index || weight !== 0) loss += weight * (log + (top - row[c]!));
      });
      m.f32[(out >>> 2) + r * outStride] = loss;
    }
  },
);

/** dx[r, c] (+)= dy[r] * (softmax(x[r, :])[c] * sum of label[r, :] - label[r, c]). */
export const softmaxLossGradF32 = twin(
  KERNEL.softmaxLossGradF32,
  (m, { x, xStride, label, labelStride, dy, dyStride, dx, dxStride, rows, cols, index, acc }) => {
    for (let r = 0; r < rows; r++) {
      const row = Array.from({ length: cols }, (_, c) => m.f32[(x >>> 2) + r * xStride + c]!);
      const top = Math.max(...row);
      const exps = row.map((v) => Math.exp(v - top));
      const share =
        labelsOf(m, label + r * labelStride * 4, cols, index).reduce((sum, weight) => sum + weight, 0) /
        exps.reduce((sum, e) => sum + e, 0);
      const grad = m.f32[(dy >>> 2) + r * dyStride]!;
      labelsOf(m, label + r * labelStride * 4, cols, index).forEach((weight, c) => {
        put(m, (dx >>> 2) + r * dxStride + c, f(grad * f(f(exps[c]! * share) - weight)), acc);
      });
    }
  },
);
