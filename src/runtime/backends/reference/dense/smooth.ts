/**
 * @file Activations whose gradient is taken from their input, in plain TypeScript and in f64 until the result is
 * stored.
 */
import { KERNEL } from '../../../kernels/kernels.js';
import { map, mapGrad } from './combinators.js';
import { logistic } from './logistic.js';
import { normalCdf, normalPdf } from './normal.js';

const f = Math.fround;
/** 2 * sqrt(2 / pi). */
const STEEPNESS = 2 * Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

const geluGate = (x: number) => logistic(STEEPNESS * (x + CUBIC * x * x * x));

export const geluF32 = map(KERNEL.geluF32, (x) => f(x * normalCdf(x)));
export const geluGradF32 = mapGrad(KERNEL.geluGradF32, (x) => normalCdf(x) + x * normalPdf(x));

/** y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2. */
export const geluTanhF32 = map(KERNEL.geluTanhF32, (x) => f(x * geluGate(x)));
export const geluTanhGradF32 = mapGrad(KERNEL.geluTanhGradF32, (x) => {
  const s = geluGate(x);
  return s + s * (1 - s) * x * STEEPNESS * (1 + 3 * CUBIC * x * x);
});

export const swishF32 = map(KERNEL.swishF32, (x) => f(x * logistic(x)));
/** dx (+)= dy * s * (1 + x * (1 - s)), s = sigmoid(x). */
export const swishGradF32 = mapGrad(KERNEL.swishGradF32, (x) => logistic(x) * (1 + x * logistic(-x)));

export const softplusF32 = map(KERNEL.softplusF32, (x) => f(Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))));
export const softplusGradF32 = mapGrad(KERNEL.softplusGradF32, logistic);
