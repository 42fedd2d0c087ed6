/** @file Optimizer steps in plain TypeScript: f32 at every operation, as upstream computes them. */
import { KERNEL } from '../../../kernels/kernels.js';
import { divisor } from '../optim/terms.js';
import { twin } from '../twin.js';
import { stepFtrl } from './ftrl.js';

const f = Math.fround;

/** w -= lr * g. */
export const applySgdF32 = twin(KERNEL.applySgdF32, (m, { w, g, n, lr }) => {
  const rate = f(lr);
  for (let i = 0; i < n; i++) {
    m.f32[(w >>> 2) + i] = m.f32[(w >>> 2) + i]! - f(rate * m.f32[(g >>> 2) + i]!);
  }
});

/** h = g + decay * w, or g at a decay of 0; norm += h * h; w -= lr / sqrt(norm) * h. */
export const applyAdagradF32 = twin(KERNEL.applyAdagradF32, (m, { w, norm, g, n, lr, decay }) => {
  for (let i = 0; i < n; i++) {
    const weight = m.f32[(w >>> 2) + i]!;
    const gradient = m.f32[(g >>> 2) + i]!;
    const h = f(decay) === 0 ? gradient : f(gradient + f(f(decay) * weight));
    const sum = f(m.f32[(norm >>> 2) + i]! + f(h * h));
    m.f32[(norm >>> 2) + i] = sum;
    m.f32[(w >>> 2) + i] = weight - f(f(f(lr) / divisor(f(Math.sqrt(sum)))) * h);
  }
});

/**
 * n' = n + g^2; s = (sqrt(n') - sqrt(n)) / lr; z' = z + (g - s * w);
 * w' = lr * (neg(z') * l1 - z') / (sqrt(n') + beta + l2 * lr) where |z'| > l1, else 0.
 *
 * neg is 1 where the sign bit is set, else 0: upstream's indicator, not the sign. At a rate of 0 n' = n + g^2; z' = z +
 * g, and the weights stay.
 */
export const applyFtrlF32 = twin(KERNEL.applyFtrlF32, (m, { w, norm, zero, g, n, lr, beta, l1, l2 }) => {
  stepFtrl(m, w, norm, zero, g, n, lr, beta, l1, l2, (z) => (z < 0 ? 1 : 0));
});
