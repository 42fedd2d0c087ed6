// Activations whose gradient is taken from their input: gelu in both forms, swish, softplus.
import { gather, put, scatter } from "./loops";
import { expNonPositive, log1pUnit, sigmoid4 } from "./math";

const GELU: i32 = 0;
const GELU_TANH: i32 = 1;
const SWISH: i32 = 2;
const SOFTPLUS: i32 = 3;

/** exp(-x^2 / 2). */
@inline
function bell(x: v128): v128 {
  return expNonPositive(f32x4.mul(f32x4.mul(x, x), f32x4.splat(-0.5)));
}

/**
 * The standard normal distribution at x, given bell(x). The tail beyond |x| is bell(x) * t * P(t) with
 * t = 1 / (1 + 0.3 |x|), a fit within 5e-7 of the tail; above zero it is taken from 1.
 */
@inline
function normalCdf(x: v128, bellOfX: v128): v128 {
  const one = f32x4.splat(1);
  const t = f32x4.div(one, f32x4.add(one, f32x4.mul(f32x4.splat(0.3), f32x4.abs(x))));
  let p = f32x4.add(f32x4.mul(t, f32x4.splat(0.03542372211813927)), f32x4.splat(-0.15615838766098022));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.20455670356750488));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(-0.05203394964337349));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.12769174575805664));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.10017595440149307));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.12071213871240616));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.11963200569152832));
  const tail = f32x4.mul(f32x4.mul(p, t), bellOfX);
  return v128.bitselect(tail, f32x4.sub(one, tail), f32x4.lt(x, f32x4.splat(0)));
}

/** The sigmoid that the tanh form of gelu is made of: (1 + tanh(u)) / 2 is sigmoid(2 u), u = 0.798 (x + 0.0447 x^3). */
@inline
function gate(x: v128): v128 {
  const cube = f32x4.mul(f32x4.mul(x, x), x);
  return sigmoid4(f32x4.mul(f32x4.splat(1.5957691216), f32x4.add(x, f32x4.mul(f32x4.splat(0.044715), cube))));
}

@inline
function valueAt(op: i32, x: v128): v128 {
  if (op == GELU) return f32x4.mul(x, normalCdf(x, bell(x)));
  if (op == GELU_TANH) return f32x4.mul(x, gate(x));
  if (op == SWISH) return f32x4.mul(x, sigmoid4(x));
  return f32x4.add(f32x4.max(x, f32x4.splat(0)), log1pUnit(expNonPositive(f32x4.neg(f32x4.abs(x)))));
}

@inline
function slopeAt(op: i32, x: v128): v128 {
  const one = f32x4.splat(1);
  if (op == GELU) {
    const b = bell(x);
    return f32x4.add(normalCdf(x, b), f32x4.mul(x, f32x4.mul(f32x4.splat(0.3989422804), b)));
  }
  if (op == GELU_TANH) {
    const s = gate(x);
    const inner = f32x4.add(f32x4.splat(1.5957691216), f32x4.mul(f32x4.splat(0.2140644488), f32x4.mul(x, x)));
    return f32x4.add(s, f32x4.mul(f32x4.mul(s, f32x4.sub(one, s)), f32x4.mul(x, inner)));
  }
  const s = sigmoid4(x);
  if (op == SWISH) return f32x4.mul(s, f32x4.add(one, f32x4.mul(x, f32x4.sub(one, s))));
  return s;
}

@inline
function mapRows(op: i32, x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  const flat = xStride == cols && yStride == cols;
  const count = flat ? cols * rows : cols;
  const rowCount = flat ? 1 : rows;
  for (let r = 0; r < rowCount; r++) {
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = y + ((<usize>(r * yStride)) << 2);
    // A full vector and a part of one meet in the one copy of the arithmetic.
    for (let left = count; left > 0; left -= 4, s += 16, d += 16) {
      const v = valueAt(op, left >= 4 ? v128.load(s) : gather(s, 4, left));
      if (left >= 4) v128.store(d, v);
      else scatter(d, 4, left, v);
    }
  }
}

@inline
function gradRows(
  op: i32, dy: usize, dyStride: i32, x: usize, xStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  const flat = dyStride == cols && xStride == cols && dxStride == cols;
  const count = flat ? cols * rows : cols;
  const rowCount = flat ? 1 : rows;
  for (let r = 0; r < rowCount; r++) {
    let g = dy + ((<usize>(r * dyStride)) << 2);
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = dx + ((<usize>(r * dxStride)) << 2);
    for (let left = count; left > 0; left -= 4, g += 16, s += 16, d += 16) {
      const slope = slopeAt(op, left >= 4 ? v128.load(s) : gather(s, 4, left));
      if (left >= 4) {
        put(d, f32x4.mul(v128.load(g), slope), acc != 0);
        continue;
      }
      let v = f32x4.mul(gather(g, 4, left), slope);
      if (acc) v = f32x4.add(gather(d, 4, left), v);
      scatter(d, 4, left, v);
    }
  }
}

/** y = x * Phi(x), Phi the standard normal distribution: gelu in its exact (erf) form. */
export function geluF32(x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  mapRows(GELU, x, xStride, y, yStride, rows, cols);
}

/** y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2. */
export function geluTanhF32(x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  mapRows(GELU_TANH, x, xStride, y, yStride, rows, cols);
}

/** y = x * sigmoid(x). */
export function swishF32(x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  mapRows(SWISH, x, xStride, y, yStride, rows, cols);
}

/** y = log(1 + exp(x)). */
export function softplusF32(x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  mapRows(SOFTPLUS, x, xStride, y, yStride, rows, cols);
}

/** dx (+)= dy * (Phi(x) + x * phi(x)). */
export function geluGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  gradRows(GELU, dy, dyStride, x, xStride, dx, dxStride, rows, cols, acc);
}

/** dx (+)= dy * slope of geluTanhF32 at x. */
export function geluTanhGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  gradRows(GELU_TANH, dy, dyStride, x, xStride, dx, dxStride, rows, cols, acc);
}

/** dx (+)= dy * s * (1 + x * (1 - s)), s = sigmoid(x). */
export function swishGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  gradRows(SWISH, dy, dyStride, x, xStride, dx, dxStride, rows, cols, acc);
}

/** dx (+)= dy * sigmoid(x). */
export function softplusGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  gradRows(SOFTPLUS, dy, dyStride, x, xStride, dx, dxStride, rows, cols, acc);
}
