/** @file Activations and their gradients in plain TypeScript; exp and tanh are those of the platform, in f64. */
import { KERNEL } from '../../../kernels/kernels.js';
import { map, zip } from './combinators.js';
import { logistic } from './logistic.js';

const f = Math.fround;

/** NaN stays NaN. */
export const reluF32 = map(KERNEL.reluF32, (x) => Math.max(x, 0));
export const reluGradF32 = zip(KERNEL.reluGradF32, (dy, y) => (y > 0 ? dy : 0));
export const biasReluF32 = zip(KERNEL.biasReluF32, (x, bias) => Math.max(f(x + bias), 0));
export const sigmoidF32 = map(KERNEL.sigmoidF32, (x) => f(logistic(x)));
export const sigmoidGradF32 = zip(KERNEL.sigmoidGradF32, (dy, y) => f(dy * f(y * f(1 - y))));
export const tanhF32 = map(KERNEL.tanhF32, (x) => f(Math.tanh(x)));
export const tanhGradF32 = zip(KERNEL.tanhGradF32, (dy, y) => f(dy * f(1 - f(y * y))));
