/** @file Adadelta, momentum, moving average and decoupled adagrad in plain TypeScript, f32 at every operation. */
import type { Views } from '../../../../memory/views.js';
import { rowStep } from './row-step.js';
import { decayedGradient, divisor } from './terms.js';

const f = Math.fround;

/** State: accum[n], update[n]. */
export const applyAdadeltaF32 = rowStep((row, decay: number, rho: number, epsilon: number) => {
  const { m, f32, n, rate } = row;
  const [keep, eps] = [f(rho), f(epsilon)];
  const rest = f(1 - keep);
  for (let i = 0; i < n; i++) {
    const weight = row.weights + i;
    const accum = row.state + i;
    const update = accum + n;
    const h = decayedGradient(m, row.gradient + i, weight, decay);
    const a = f(f(f32[accum]! * keep) + f(f(h * h) * rest));
    const before = f32[update]!;
    const u = f(f(f(Math.sqrt(f(before + eps))) / divisor(f(Math.sqrt(f(a + eps))))) * h);
    f32[accum] = a;
    f32[weight] = f32[weight]! - f(u * rate);
    f32[update] = f(before * keep) + f(f(u * u) * rest);
  }
});

/** State: n[n]. */
export const applyMomentumF32 = rowStep((row, decay: number, mu: number, nesterov: number) => {
  const { m, f32, rate } = row;
  const keep = f(mu);
  for (let i = 0; i < row.n; i++) {
    const weight = row.weights + i;
    const dx = f(rate * decayedGradient(m, row.gradient + i, weight, decay));
    const before = f(keep * f32[row.state + i]!);
    const after = f(before - dx);
    f32[row.state + i] = after;
    const from = f32[weight]!;
    f32[weight] = nesterov ? f(from - before) + f(f(1 + keep) * after) : from + after;
  }
});

export function applyMovingAverageF32(m: Views, w: number, g: number, n: number, mu: number): void {
  const keep = f(mu);
  const rest = f(1 - keep);
  for (let i = 0; i < n; i++) {
    m.f32[(w >>> 2) + i] = f(keep * m.f32[(w >>> 2) + i]!) + f(rest * m.f32[(g >>> 2) + i]!);
  }
}

/** State: norm[n]. */
export const applyDecoupledAdagradF32 = rowStep(({ f32, weights, state, gradient, n, rate }, decay: number) => {
  const shrink = f(rate * f(decay));
  for (let i = 0; i < n; i++) {
    const weight = f32[weights + i]!;
    const h = f32[gradient + i]!;
    const sum = f(f32[state + i]! + f(h * h));
    f32[state + i] = sum;
    f32[weights + i] = f(weight - f(f(rate / divisor(f(Math.sqrt(sum)))) * h)) - f(shrink * weight);
  }
});
