// Losses of one logit per example: cross entropy with a weight for positives, hinge, focal. `positive` and `negative`
// are the weights of the two classes; a label between 0 and 1 takes its share of both.
import { gather, scatter } from "./loops";
import { expNonPositive, log1pUnit, sigmoid4 } from "./math";

const WEIGHTED: i32 = 0;
const HINGE: i32 = 1;
const FOCAL: i32 = 2;

/** log(1 + exp(x)) given tail = log1p(exp(-|x|)). */
@inline
function softplus(x: v128, tail: v128): v128 {
  return f32x4.add(f32x4.max(x, f32x4.splat(0)), tail);
}

@inline
function valueAt(op: i32, x: v128, label: v128, gamma: f32, positive: f32, negative: f32): v128 {
  const one = f32x4.splat(1);
  if (op == HINGE) {
    const sign = f32x4.sub(f32x4.add(label, label), one);
    return f32x4.max(f32x4.sub(one, f32x4.mul(sign, x)), f32x4.splat(0));
  }
  const tail = log1pUnit(expNonPositive(f32x4.neg(f32x4.abs(x))));
  let ifPositive = softplus(f32x4.neg(x), tail);
  let ifNegative = softplus(x, tail);
  if (op == FOCAL) {
    // (1 - p)^gamma with log(1 - p) = -softplus(x), and p^gamma likewise: no cancellation near either end.
    const power = f32x4.splat(-gamma);
    const miss = expNonPositive(f32x4.mul(power, ifNegative));
    const hit = expNonPositive(f32x4.mul(power, ifPositive));
    ifPositive = f32x4.mul(miss, ifPositive);
    ifNegative = f32x4.mul(hit, ifNegative);
  }
  const up = f32x4.mul(f32x4.mul(label, f32x4.splat(positive)), ifPositive);
  return f32x4.add(up, f32x4.mul(f32x4.mul(f32x4.sub(one, label), f32x4.splat(negative)), ifNegative));
}

@inline
function slopeAt(op: i32, x: v128, label: v128, gamma: f32, positive: f32, negative: f32): v128 {
  const one = f32x4.splat(1);
  if (op == HINGE) {
    const sign = f32x4.sub(f32x4.add(label, label), one);
    return v128.and(f32x4.neg(sign), f32x4.gt(f32x4.sub(one, f32x4.mul(sign, x)), f32x4.splat(0)));
  }
  const p = sigmoid4(x);
  const q = sigmoid4(f32x4.neg(x));
  let ifPositive = f32x4.neg(q);
  let ifNegative = p;
  if (op == FOCAL) {
    const tail = log1pUnit(expNonPositive(f32x4.neg(f32x4.abs(x))));
    const up = softplus(f32x4.neg(x), tail);
    const down = softplus(x, tail);
    const power = f32x4.splat(-gamma);
    const focus = f32x4.splat(gamma);
    const miss = expNonPositive(f32x4.mul(power, down));
    const hit = expNonPositive(f32x4.mul(power, up));
    ifPositive = f32x4.neg(f32x4.mul(miss, f32x4.add(f32x4.mul(f32x4.mul(focus, p), up), q)));
    ifNegative = f32x4.mul(hit, f32x4.add(f32x4.mul(f32x4.mul(focus, q), down), p));
  }
  const share = f32x4.mul(f32x4.mul(label, f32x4.splat(positive)), ifPositive);
  return f32x4.add(share, f32x4.mul(f32x4.mul(f32x4.sub(one, label), f32x4.splat(negative)), ifNegative));
}

@inline
function lossRows(
  op: i32, x: usize, xStride: i32, label: usize, labelStride: i32, out: usize, outStride: i32, rows: i32,
  gamma: f32, positive: f32, negative: f32,
): void {
  const xStep = <usize>xStride << 2;
  const labelStep = <usize>labelStride << 2;
  const outStep = <usize>outStride << 2;
  for (let left = rows; left > 0; left -= 4) {
    const value = valueAt(op, gather(x, xStep, left), gather(label, labelStep, left), gamma, positive, negative);
    scatter(out, outStep, left, value);
    x += xStep << 2;
    label += labelStep << 2;
    out += outStep << 2;
  }
}

@inline
function gradRows(
  op: i32, x: usize, xStride: i32, label: usize, labelStride: i32, dy: usize, dyStride: i32, dx: usize, dxStride: i32,
  rows: i32, gamma: f32, positive: f32, negative: f32, acc: i32,
): void {
  const xStep = <usize>xStride << 2;
  const labelStep = <usize>labelStride << 2;
  const dyStep = <usize>dyStride << 2;
  const dxStep = <usize>dxStride << 2;
  for (let left = rows; left > 0; left -= 4) {
    const slope = slopeAt(op, gather(x, xStep, left), gather(label, labelStep, left), gamma, positive, negative);
    let value = f32x4.mul(gather(dy, dyStep, left), slope);
    if (acc) value = f32x4.add(gather(dx, dxStep, left), value);
    scatter(dx, dxStep, left, value);
    x += xStep << 2;
    label += labelStep << 2;
    dy += dyStep << 2;
    dx += dxStep << 2;
  }
}

/** out[r] = positive * label * softplus(-x) + negative * (1 - label) * softplus(x). */
export function weightedBceF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, out: usize, outStride: i32, rows: i32,
  positive: f32, negative: f32,
): void {
  lossRows(WEIGHTED, x, xStride, label, labelStride, out, outStride, rows, 0, positive, negative);
}

/** dx[r] (+)= dy[r] * slope of weightedBceF32. */
export function weightedBceGradF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, dy: usize, dyStride: i32, dx: usize, dxStride: i32,
  rows: i32, positive: f32, negative: f32, acc: i32,
): void {
  gradRows(WEIGHTED, x, xStride, label, labelStride, dy, dyStride, dx, dxStride, rows, 0, positive, negative, acc);
}

/** out[r] = max(0, 1 - (2 label - 1) * x). */
export function hingeF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, out: usize, outStride: i32, rows: i32,
): void {
  lossRows(HINGE, x, xStride, label, labelStride, out, outStride, rows, 0, 1, 1);
}

/** dx[r] (+)= dy[r] * slope of hingeF32, 0 at the corner. */
export function hingeGradF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, dy: usize, dyStride: i32, dx: usize, dxStride: i32,
  rows: i32, acc: i32,
): void {
  gradRows(HINGE, x, xStride, label, labelStride, dy, dyStride, dx, dxStride, rows, 0, 1, 1, acc);
}

/**
 * out[r] = positive * label * (1 - p)^gamma * -log(p) + negative * (1 - label) * p^gamma * -log(1 - p), p = sigmoid(x).
 */
export function focalF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, out: usize, outStride: i32, rows: i32,
  gamma: f32, positive: f32, negative: f32,
): void {
  lossRows(FOCAL, x, xStride, label, labelStride, out, outStride, rows, gamma, positive, negative);
}

/** dx[r] (+)= dy[r] * slope of focalF32. */
export function focalGradF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, dy: usize, dyStride: i32, dx: usize, dxStride: i32,
  rows: i32, gamma: f32, positive: f32, negative: f32, acc: i32,
): void {
  gradRows(FOCAL, x, xStride, label, labelStride, dy, dyStride, dx, dxStride, rows, gamma, positive, negative, acc);
}
