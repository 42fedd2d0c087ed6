/** @file Sigmoid cross entropy in plain TypeScript, in f64 until the result is stored. */
import type { Views } from '../../../../memory/views.js';
import { logistic } from './logistic.js';
import { put } from './loops.js';

const f = Math.fround;

/** out[r] = max(x, 0) - x * label + log1p(exp(-|x|)). */
export function bceLogitsF32(
  m: Views,
  x: number,
  xStride: number,
  label: number,
  labelStride: number,
  out: number,
  outStride: number,
  rows: number,
): void {
  for (let r = 0; r < rows; r++) {
    const logit = m.f32[(x >>> 2) + r * xStride]!;
    const target = m.f32[(label >>> 2) + r * labelStride]!;
    const loss = Math.max(logit, 0) - logit * target + Math.log1p(Math.exp(-Math.abs(logit)));
    m.f32[(out >>> 2) + r * outStride] = loss;
  }
}

/** dx[r] (+)= dy[r] * (sigmoid(x[r]) - label[r]). */
export function bceLogitsGradF32(
  m: Views,
  x: number,
  xStride: number,
  label: number,
  labelStride: number,
  dy: number,
  dyStride: number,
  dx: number,
  dxStride: number,
  rows: number,
  acc: number,
): void {
  for (let r = 0; r < rows; r++) {
    const slope = f(f(logistic(m.f32[(x >>> 2) + r * xStride]!)) - m.f32[(label >>> 2) + r * labelStride]!);
    put(m, (dx >>> 2) + r * dxStride, f(m.f32[(dy >>> 2) + r * dyStride]! * slope), acc);
  }
}
