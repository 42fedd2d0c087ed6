/** @file Activations, normalized rows and their gradients. */
import { family, kernel } from '../kernel.js';
import { ACCUMULATE, float, matrix, read, SIZE, write } from '../operand.js';

const MAPPED = { x: matrix.read, y: matrix.write, ...SIZE } as const;
/** Gradients that are told by the result, and those that need the input. */
const FROM_Y = { dy: matrix.read, y: matrix.read, dx: matrix.write, ...SIZE, ...ACCUMULATE } as const;
const FROM_X = { dy: matrix.read, x: matrix.read, dx: matrix.write, ...SIZE, ...ACCUMULATE } as const;

export const ACTIVATION = family('dense', {
  reluF32: kernel('y = max(x, 0)', MAPPED),
  reluGradF32: kernel('dx (+)= dy where y > 0', FROM_Y),
  biasReluF32: kernel('y[r,:] = max(x[r,:] + bias, 0)', { x: matrix.read, bias: read, y: matrix.write, ...SIZE }),
  sigmoidF32: kernel('y = 1 / (1 + exp(-x))', MAPPED),
  sigmoidGradF32: kernel('dx (+)= dy * y * (1 - y)', FROM_Y),
  tanhF32: kernel('y = tanh(x)', MAPPED),
  tanhGradF32: kernel('dx (+)= dy * (1 - y * y)', FROM_Y),
  geluF32: kernel('y = x * Phi(x)', MAPPED),
  geluGradF32: kernel('dx (+)= dy * (Phi(x) + x * phi(x))', FROM_X),
  geluTanhF32: kernel('y = x * (1 + tanh(0.798 (x + 0.0447 x^3))) / 2', MAPPED),
  geluTanhGradF32: kernel('dx (+)= dy * slope of geluTanhF32 at x', FROM_X),
  swishF32: kernel('y = x * sigmoid(x)', MAPPED),
  swishGradF32: kernel('dx (+)= dy * slope of swishF32 at x', FROM_X),
  softplusF32: kernel('y = log(1 + exp(x))', MAPPED),
  softplusGradF32: kernel('dx (+)= dy * sigmoid(x)', FROM_X),
  leakyReluF32: kernel('y = x where x > 0, else slope * x', { ...MAPPED, slope: float }),
  leakyReluGradF32: kernel('dx (+)= dy where x > 0, else slope * dy', {
    dy: matrix.read,
    x: matrix.read,
    dx: matrix.write,
    ...SIZE,
    slope: float,
    ...ACCUMULATE,
  }),
  preluF32: kernel('y[r,c] = x[r,c] where x > 0, else slope[c] * x[r,c]', {
    x: matrix.read,
    slope: read,
    y: matrix.write,
    ...SIZE,
  }),
  preluGradF32: kernel('dx[r,c] (+)= dy[r,c] where x > 0, else slope[c] * dy[r,c]', {
    dy: matrix.read,
    x: matrix.read,
    slope: read,
    dx: matrix.write,
    ...SIZE,
    ...ACCUMULATE,
  }),
  preluSlopeGradF32: kernel('dslope[c] = sum over r of dy * x where x is not above 0', {
    dy: matrix.read,
    x: matrix.read,
    dslope: write,
    ...SIZE,
  }),
});

export const NORM = family('dense', {
  layerNormF32: kernel('y[r,:] = (x[r,:] - mean) * rstd * gain + bias; mean and rstd are kept', {
    x: matrix.read,
    gain: read,
    bias: read,
    y: matrix.write,
    stats: write,
    ...SIZE,
    epsilon: float,
  }),
  layerNormGradF32: kernel('dx (+)= gradient of layerNormF32', {
    dy: matrix.read,
    x: matrix.read,
    gain: read,
    stats: read,
    dx: matrix.write,
    ...SIZE,
    ...ACCUMULATE,
  }),
  layerNormGainGradF32: kernel('dgain[c] = sum over r of dy * (x - mean) * rstd', {
    dy: matrix.read,
    x: matrix.read,
    stats: read,
    dgain: write,
    ...SIZE,
  }),
  l2NormalizeF32: kernel('y[r,:] = x[r,:] / length of x[r,:]', { ...MAPPED, epsilon: float }),
  l2NormalizeGradF32: kernel('dx (+)= gradient of l2NormalizeF32', {
    dy: matrix.read,
    x: matrix.read,
    dx: matrix.write,
    ...SIZE,
    epsilon: float,
    ...ACCUMULATE,
  }),
});
