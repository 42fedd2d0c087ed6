// Activations and their gradients. A gradient takes the output y of the activation, not its input.
import { V1 } from "../units";
import { RELU_GRAD, SIGMOID_GRAD, TANH_GRAD, binaryRows, gather, scatter } from "./loops";
import { sigmoid4, tanh4 } from "./math";

const RELU: i32 = 0;
const SIGMOID: i32 = 1;
const TANH: i32 = 2;

@inline
function apply(op: i32, x: v128): v128 {
  if (op == RELU) return f32x4.max(x, f32x4.splat(0));
  if (op == SIGMOID) return sigmoid4(x);
  return tanh4(x);
}

@inline
function unaryRows(op: i32, x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  const flat = xStride == cols && yStride == cols;
  const count = flat ? cols * rows : cols;
  const rowCount = flat ? 1 : rows;
  for (let r = 0; r < rowCount; r++) {
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = y + ((<usize>(r * yStride)) << 2);
    let left = count;
    while (left > 0) {
      // A full vector and a part of one meet in the one copy of the arithmetic.
      const v = left >= 4 ? v128.load(s) : gather(s, 4, left);
      const value = apply(op, v);
      if (left >= 4) v128.store(d, value);
      else scatter(d, 4, left, value);
      s += 16;
      d += 16;
      left -= 4;
    }
  }
}

/** y = max(x, 0); NaN stays NaN. */
export function reluF32(x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  unaryRows(RELU, x, xStride, y, yStride, rows, cols);
}

/** y[r,:] = max(x[r,:] + bias, 0), the bits of addBiasF32 and then reluF32; y may be x. */
export function biasReluF32(
  x: usize, xStride: i32, bias: usize, y: usize, yStride: i32, rows: i32, cols: i32,
): void {
  const zero = f32x4.splat(0);
  const bytes = <usize>cols << 2;
  for (let r = 0; r < rows; r++) {
    let c: usize = 0;
    for (; c + 32 <= bytes; c += 32) {
      const low = f32x4.max(f32x4.add(v128.load(x + c), v128.load(bias + c)), zero);
      const high = f32x4.max(f32x4.add(v128.load(x + c, V1), v128.load(bias + c, V1)), zero);
      v128.store(y + c, low);
      v128.store(y + c, high, V1);
    }
    for (; c < bytes; c += 4) store<f32>(y + c, max<f32>(load<f32>(x + c) + load<f32>(bias + c), 0));
    x += <usize>xStride << 2;
    y += <usize>yStride << 2;
  }
}

/** y = 1 / (1 + exp(-x)), within 2.5 ulp. */
export function sigmoidF32(x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  unaryRows(SIGMOID, x, xStride, y, yStride, rows, cols);
}

/** y = tanh(x), within 1.5 ulp. */
export function tanhF32(x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  unaryRows(TANH, x, xStride, y, yStride, rows, cols);
}

/** dx (+)= dy where y > 0, else 0. */
export function reluGradF32(
  dy: usize, dyStride: i32, y: usize, yStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  if (acc) binaryRows(RELU_GRAD, true, dy, dyStride, y, yStride, dx, dxStride, rows, cols);
  else binaryRows(RELU_GRAD, false, dy, dyStride, y, yStride, dx, dxStride, rows, cols);
}

/** dx (+)= dy * (y * (1 - y)). */
export function sigmoidGradF32(
  dy: usize, dyStride: i32, y: usize, yStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  if (acc) binaryRows(SIGMOID_GRAD, true, dy, dyStride, y, yStride, dx, dxStride, rows, cols);
  else binaryRows(SIGMOID_GRAD, false, dy, dyStride, y, yStride, dx, dxStride, rows, cols);
}

/** dx (+)= dy * (1 - y * y). */
export function tanhGradF32(
  dy: usize, dyStride: i32, y: usize, yStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  if (acc) binaryRows(TANH_GRAD, true, dy, dyStride, y, yStride, dx, dxStride, rows, cols);
  else binaryRows(TANH_GRAD, false, dy, dyStride, y, yStride, dx, dxStride, rows, cols);
}
