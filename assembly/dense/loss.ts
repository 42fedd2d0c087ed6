// Sigmoid cross entropy on logits, one value per example.
import { gather, scatter } from "./loops";
import { expNonPositive, log1pUnit, sigmoid4 } from "./math";

/**
 * out[r] = max(x, 0) - x * label + log1p(exp(-|x|)).
 *
 * With labels 0 and 1 the first part is exact, so the error is that of the last term (at most 1.1e-7) and the
 * rounding of the sum. An infinite logit gives what the formula gives: infinity for x = -inf with label 1, NaN with
 * label 0 or for x = +inf. A model that reaches one has failed, and NaN is what the loss check stops on.
 */
export function bceLogitsF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, out: usize, outStride: i32, rows: i32,
): void {
  const xStep = <usize>xStride << 2;
  const labelStep = <usize>labelStride << 2;
  const outStep = <usize>outStride << 2;
  let left = rows;
  while (left > 0) {
    const logit = gather(x, xStep, left);
    const target = gather(label, labelStep, left);
    const tail = log1pUnit(expNonPositive(f32x4.neg(f32x4.abs(logit))));
    const line = f32x4.sub(f32x4.max(logit, f32x4.splat(0)), f32x4.mul(logit, target));
    scatter(out, outStep, left, f32x4.add(line, tail));
    x += xStep << 2;
    label += labelStep << 2;
    out += outStep << 2;
    left -= 4;
  }
}

/** dx[r] (+)= dy[r] * (sigmoid(x[r]) - label[r]). */
export function bceLogitsGradF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, dy: usize, dyStride: i32, dx: usize, dxStride: i32,
  rows: i32, acc: i32,
): void {
  const xStep = <usize>xStride << 2;
  const labelStep = <usize>labelStride << 2;
  const dyStep = <usize>dyStride << 2;
  const dxStep = <usize>dxStride << 2;
  let left = rows;
  while (left > 0) {
    const slope = f32x4.sub(sigmoid4(gather(x, xStep, left)), gather(label, labelStep, left));
    let value = f32x4.mul(gather(dy, dyStep, left), slope);
    if (acc) value = f32x4.add(gather(dx, dxStep, left), value);
    scatter(dx, dxStep, left, value);
    x += xStep << 2;
    label += labelStep << 2;
    dy += dyStep << 2;
    dx += dxStep << 2;
    left -= 4;
  }
}
