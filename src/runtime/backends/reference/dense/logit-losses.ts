/** @file Losses of one logit per example in plain TypeScript, in f64 until the result is stored. */
import { KERNEL } from '../../../kernels/kernels.js';
import { loss, lossGrad } from './combinators.js';
import { logistic } from './logistic.js';

const f = Math.fround;

const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** out[r] = max(x, 0) - x * label + log1p(exp(-|x|)). */
export const bceLogitsF32 = loss(
  KERNEL.bceLogitsF32,
  (x, label) => Math.max(x, 0) - x * label + Math.log1p(Math.exp(-Math.abs(x))),
);
export const bceLogitsGradF32 = lossGrad(KERNEL.bceLogitsGradF32, (x, label) => f(logistic(x)) - label);

/** out[r] = positive * label * softplus(-x) + negative * (1 - label) * softplus(x). */
export const weightedBceF32 = loss(
  KERNEL.weightedBceF32,
  (x, label, { positive, negative }) => f(positive) * label * softplus(-x) + f(negative) * (1 - label) * softplus(x),
);
export const weightedBceGradF32 = lossGrad(
  KERNEL.weightedBceGradF32,
  (x, label, { positive, negative }) => f(negative) * (1 - label) * logistic(x) - f(positive) * label * logistic(-x),
);

export const hingeF32 = loss(KERNEL.hingeF32, (x, label) => Math.max(0, f(1 - f(f(f(label + label) - 1) * x))));
/** 0 at the corner. */
export const hingeGradF32 = lossGrad(KERNEL.hingeGradF32, (x, label) => {
  const sign = f(f(label + label) - 1);
  return f(1 - f(sign * x)) > 0 ? -sign : 0;
});

/**
 * out[r] = positive * label * (1 - p)^gamma * -log(p) + negative * (1 - label) * p^gamma * -log(1 - p), p = sigmoid(x).
 */
export const focalF32 = loss(KERNEL.focalF32, (x, label, { gamma, positive, negative }) => {
  const [up, down] = [softplus(-x), softplus(x)];
  const power = -f(gamma);
  return f(positive) * label * Math.exp(power * down) * up + f(negative) * (1 - label) * Math.exp(power * up) * down;
});
export const focalGradF32 = lossGrad(KERNEL.focalGradF32, (x, label, { gamma, positive, negative }) => {
  const [up, down, p, q] = [softplus(-x), softplus(x), logistic(x), logistic(-x)];
  const power = f(gamma);
  const ifPositive = -Math.exp(-power * down) * (power * p * up + q);
  const ifNegative = Math.exp(-power * up) * (power * q * down + p);
  return f(positive) * label * ifPositive + f(negative) * (1 - label) * ifNegative;
});
