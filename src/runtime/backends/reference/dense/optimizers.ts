/** @file Optimizer steps in plain TypeScript: f32 at every operation, as upstream computes them. */
import type { Views } from '../../../../memory/views.js';
import { divisor } from '../optim/terms.js';
import { stepFtrl } from './ftrl.js';

const f = Math.fround;

/** w -= lr * g. */
export function applySgdF32(m: Views, w: number, g: number, n: number, lr: number): void {
  const rate = f(lr);
  for (let i = 0; i < n; i++) {
    m.f32[(w >>> 2) + i] = m.f32[(w >>> 2) + i]! - f(rate * m.f32[(g >>> 2) + i]!);
  }
}

/** h = g + decay * w; norm += h * h; w -= lr / sqrt(norm) * h. */
export function applyAdagradF32(
  m: Views,
  w: number,
  norm: number,
  g: number,
  n: number,
  lr: number,
  decay: number,
): void {
  for (let i = 0; i < n; i++) {
    const weight = m.f32[(w >>> 2) + i]!;
    const h = f(m.f32[(g >>> 2) + i]! + f(f(decay) * weight));
    const sum = f(m.f32[(norm >>> 2) + i]! + f(h * h));
    m.f32[(norm >>> 2) + i] = sum;
    m.f32[(w >>> 2) + i] = weight - f(f(f(lr) / divisor(f(Math.sqrt(sum)))) * h);
  }
}

/**
 * n' = n + g^2; s = (sqrt(n') - sqrt(n)) / lr; z' = z + (g - s * w);
 * w' = lr * (neg(z') * l1 - z') / (sqrt(n') + beta + l2 * lr) where |z'| > l1, else 0.
 *
 * neg is 1 where the sign bit is set, else 0: upstream's indicator, not the sign. At a rate of 0 n' = n + g^2; z' = z + g, and
 * the weights stay.
 */
export function applyFtrlF32(
  m: Views,
  w: number,
  norm: number,
  zero: number,
  g: number,
  n: number,
  lr: number,
  beta: number,
  l1: number,
  l2: number,
): void {
  stepFtrl(m, w, norm, zero, g, n, lr, beta, l1, l2, (z) => (z < 0 ? 1 : 0));
}
