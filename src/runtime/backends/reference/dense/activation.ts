/** @file Activations and their gradients in plain TypeScript; exp and tanh are those of the platform, in f64. */
import type { Views } from '../../../../memory/views.js';
import { logistic } from './logistic.js';
import { mapRows, zipRows } from './loops.js';

const f = Math.fround;

/** y = max(x, 0); NaN stays NaN. */
export function reluF32(
  m: Views,
  x: number,
  xStride: number,
  y: number,
  yStride: number,
  rows: number,
  cols: number,
): void {
  mapRows(m, x, xStride, y, yStride, rows, cols, 0, (value) => Math.max(value, 0));
}

/** y[r,:] = max(x[r,:] + bias, 0). */
export function biasReluF32(
  m: Views,
  x: number,
  xStride: number,
  bias: number,
  y: number,
  yStride: number,
  rows: number,
  cols: number,
): void {
  zipRows(m, x, xStride, bias, 0, y, yStride, rows, cols, 0, (value, shift) => Math.max(f(value + shift), 0));
}

/** y = 1 / (1 + exp(-x)). */
export function sigmoidF32(
  m: Views,
  x: number,
  xStride: number,
  y: number,
  yStride: number,
  rows: number,
  cols: number,
): void {
  mapRows(m, x, xStride, y, yStride, rows, cols, 0, (value) => f(logistic(value)));
}

/** y = tanh(x). */
export function tanhF32(
  m: Views,
  x: number,
  xStride: number,
  y: number,
  yStride: number,
  rows: number,
  cols: number,
): void {
  mapRows(m, x, xStride, y, yStride, rows, cols, 0, (value) => f(Math.tanh(value)));
}

/** dx (+)= dy where y > 0, else 0. */
export function reluGradF32(
  m: Views,
  dy: number,
  dyStride: number,
  y: number,
  yStride: number,
  dx: number,
  dxStride: number,
  rows: number,
  cols: number,
  acc: number,
): void {
  zipRows(m, dy, dyStride, y, yStride, dx, dxStride, rows, cols, acc, (grad, out) => (out > 0 ? grad : 0));
}

/** dx (+)= dy * (y * (1 - y)). */
export function sigmoidGradF32(
  m: Views,
  dy: number,
  dyStride: number,
  y: number,
  yStride: number,
  dx: number,
  dxStride: number,
  rows: number,
  cols: number,
  acc: number,
): void {
  zipRows(m, dy, dyStride, y, yStride, dx, dxStride, rows, cols, acc, (grad, out) => f(grad * f(out * f(1 - out))));
}

/** dx (+)= dy * (1 - y * y). */
export function tanhGradF32(
  m: Views,
  dy: number,
  dyStride: number,
  y: number,
  yStride: number,
  dx: number,
  dxStride: number,
  rows: number,
  cols: number,
  acc: number,
): void {
  zipRows(m, dy, dyStride, y, yStride, dx, dxStride, rows, cols, acc, (grad, out) => f(grad * f(1 - f(out * out))));
}
