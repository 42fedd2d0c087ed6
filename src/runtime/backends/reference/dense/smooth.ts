/** @file Activations whose gradient is taken from their input, in plain TypeScript and in f64 until the result is stored. */
import type { Views } from '../../../../memory/views.js';
import { logistic } from './logistic.js';
import { mapRows, zipRows } from './loops.js';
import { normalCdf, normalPdf } from './normal.js';

const f = Math.fround;
/** 2 * sqrt(2 / pi). */
const STEEPNESS = 2 * Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

const geluGate = (x: number) => logistic(STEEPNESS * (x + CUBIC * x * x * x));

type Forward = (m: Views, x: number, xStride: number, y: number, yStride: number, rows: number, cols: number) => void;
type Backward = (
  m: Views,
  dy: number,
  dyStride: number,
  x: number,
  xStride: number,
  dx: number,
  dxStride: number,
  rows: number,
  cols: number,
  acc: number,
) => void;

const forward =
  (value: (x: number) => number): Forward =>
  (m, x, xStride, y, yStride, rows, cols) =>
    mapRows(m, x, xStride, y, yStride, rows, cols, 0, (v) => f(value(v)));

const backward =
  (slope: (x: number) => number): Backward =>
  (m, dy, dyStride, x, xStride, dx, dxStride, rows, cols, acc) =>
    zipRows(m, dy, dyStride, x, xStride, dx, dxStride, rows, cols, acc, (grad, v) => f(grad * f(slope(v))));

/** y = x * Phi(x). */
export const geluF32 = forward((x) => x * normalCdf(x));
/** dx (+)= dy * (Phi(x) + x * phi(x)). */
export const geluGradF32 = backward((x) => normalCdf(x) + x * normalPdf(x));

/** y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2. */
export const geluTanhF32 = forward((x) => x * geluGate(x));
/** dx (+)= dy * slope of geluTanhF32 at x. */
export const geluTanhGradF32 = backward((x) => {
  const s = geluGate(x);
  return s + s * (1 - s) * x * STEEPNESS * (1 + 3 * CUBIC * x * x);
});

/** y = x * sigmoid(x). */
export const swishF32 = forward((x) => x * logistic(x));
/** dx (+)= dy * s * (1 + x * (1 - s)), s = sigmoid(x). */
export const swishGradF32 = backward((x) => logistic(x) * (1 + x * logistic(-x)));

/** y = log(1 + exp(x)). */
export const softplusF32 = forward((x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))));
/** dx (+)= dy * sigmoid(x). */
export const softplusGradF32 = backward(logistic);
