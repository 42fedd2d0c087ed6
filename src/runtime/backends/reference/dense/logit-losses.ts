/** @file Losses of one logit per example in plain TypeScript, in f64 until the result is stored. */
import type { Views } from '../../../../memory/views.js';
import { logistic } from './logistic.js';
import { put } from './loops.js';

const f = Math.fround;

const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

function lossRows(
  m: Views,
  [x, xStride, label, labelStride, out, outStride, rows]: readonly number[],
  value: (x: number, label: number) => number,
): void {
  for (let r = 0; r < rows!; r++) {
    const [logit, target] = [m.f32[(x! >>> 2) + r * xStride!]!, m.f32[(label! >>> 2) + r * labelStride!]!];
    m.f32[(out! >>> 2) + r * outStride!] = value(logit, target);
  }
}

function gradRows(
  m: Views,
  [x, xStride, label, labelStride, dy, dyStride, dx, dxStride, rows]: readonly number[],
  acc: number,
  slope: (x: number, label: number) => number,
): void {
  for (let r = 0; r < rows!; r++) {
    const [logit, target] = [m.f32[(x! >>> 2) + r * xStride!]!, m.f32[(label! >>> 2) + r * labelStride!]!];
    const grad = m.f32[(dy! >>> 2) + r * dyStride!]!;
    put(m, (dx! >>> 2) + r * dxStride!, f(grad * f(slope(logit, target))), acc);
  }
}

/** out[r] = positive * label * softplus(-x) + negative * (1 - label) * softplus(x). */
export function weightedBceF32(
  m: Views,
  x: number,
  xStride: number,
  label: number,
  labelStride: number,
  out: number,
  outStride: number,
  rows: number,
  positive: number,
  negative: number,
): void {
  lossRows(
    m,
    [x, xStride, label, labelStride, out, outStride, rows],
    (v, y) => f(positive) * y * softplus(-v) + f(negative) * (1 - y) * softplus(v),
  );
}

/** dx[r] (+)= dy[r] * slope of weightedBceF32. */
export function weightedBceGradF32(
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
  positive: number,
  negative: number,
  acc: number,
): void {
  gradRows(
    m,
    [x, xStride, label, labelStride, dy, dyStride, dx, dxStride, rows],
    acc,
    (v, y) => f(negative) * (1 - y) * logistic(v) - f(positive) * y * logistic(-v),
  );
}

/** out[r] = max(0, 1 - (2 label - 1) * x). */
export function hingeF32(
  m: Views,
  x: number,
  xStride: number,
  label: number,
  labelStride: number,
  out: number,
  outStride: number,
  rows: number,
): void {
  lossRows(m, [x, xStride, label, labelStride, out, outStride, rows], (v, y) =>
    Math.max(0, f(1 - f(f(f(y + y) - 1) * v))),
  );
}

/** dx[r] (+)= dy[r] * slope of hingeF32, 0 at the corner. */
export function hingeGradF32(
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
  gradRows(m, [x, xStride, label, labelStride, dy, dyStride, dx, dxStride, rows], acc, (v, y) => {
    const sign = f(f(y + y) - 1);
    return f(1 - f(sign * v)) > 0 ? -sign : 0;
  });
}

/** out[r] = positive * label * (1 - p)^gamma * -log(p) + negative * (1 - label) * p^gamma * -log(1 - p), p = sigmoid(x). */
export function focalF32(
  m: Views,
  x: number,
  xStride: number,
  label: number,
  labelStride: number,
  out: number,
  outStride: number,
  rows: number,
  gamma: number,
  positive: number,
  negative: number,
): void {
  lossRows(m, [x, xStride, label, labelStride, out, outStride, rows], (v, y) => {
    const [up, down] = [softplus(-v), softplus(v)];
    const power = -f(gamma);
    return f(positive) * y * Math.exp(power * down) * up + f(negative) * (1 - y) * Math.exp(power * up) * down;
  });
}

/** dx[r] (+)= dy[r] * slope of focalF32. */
export function focalGradF32(
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
  gamma: number,
  positive: number,
  negative: number,
  acc: number,
): void {
  gradRows(m, [x, xStride, label, labelStride, dy, dyStride, dx, dxStride, rows], acc, (v, y) => {
    const [up, down, p, q] = [softplus(-v), softplus(v), logistic(v), logistic(-v)];
    const power = f(gamma);
    const ifPositive = -Math.exp(-power * down) * (power * p * up + q);
    const ifNegative = Math.exp(-power * up) * (power * q * down + p);
    return f(positive) * y * ifPositive + f(negative) * (1 - y) * ifNegative;
  });
}
