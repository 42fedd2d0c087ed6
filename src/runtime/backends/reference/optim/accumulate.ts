/** @file Adadelta, momentum, moving average and decoupled adagrad in plain TypeScript, f32 at every operation. */
import type { Views } from '../../../../memory/views.js';
import { decayedGradient, divisor } from './terms.js';

const f = Math.fround;

/** State: accum[n], update[n]. */
export function applyAdadeltaF32(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  decay: number,
  rho: number,
  epsilon: number,
): void {
  const [keep, eps] = [f(rho), f(epsilon)];
  const rest = f(1 - keep);
  for (let i = 0; i < n; i++) {
    const weight = (w >>> 2) + i;
    const accum = (state >>> 2) + i;
    const update = accum + n;
    const h = decayedGradient(m, (g >>> 2) + i, weight, decay);
    const a = f(f(m.f32[accum]! * keep) + f(f(h * h) * rest));
    const before = m.f32[update]!;
    const u = f(f(f(Math.sqrt(f(before + eps))) / divisor(f(Math.sqrt(f(a + eps))))) * h);
    m.f32[accum] = a;
    m.f32[weight] = m.f32[weight]! - f(u * f(lr));
    m.f32[update] = f(before * keep) + f(f(u * u) * rest);
  }
}

/** State: n[n]. */
export function applyMomentumF32(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  decay: number,
  mu: number,
  nesterov: number,
): void {
  const keep = f(mu);
  for (let i = 0; i < n; i++) {
    const weight = (w >>> 2) + i;
    const dx = f(f(lr) * decayedGradient(m, (g >>> 2) + i, weight, decay));
    const before = f(keep * m.f32[(state >>> 2) + i]!);
    const after = f(before - dx);
    m.f32[(state >>> 2) + i] = after;
    const from = m.f32[weight]!;
    m.f32[weight] = nesterov ? f(from - before) + f(f(1 + keep) * after) : from + after;
  }
}

export function applyMovingAverageF32(m: Views, w: number, g: number, n: number, mu: number): void {
  const keep = f(mu);
  const rest = f(1 - keep);
  for (let i = 0; i < n; i++) {
    m.f32[(w >>> 2) + i] = f(keep * m.f32[(w >>> 2) + i]!) + f(rest * m.f32[(g >>> 2) + i]!);
  }
}

export function applyDecoupledAdagradF32(
  m: Views,
  w: number,
  norm: number,
  g: number,
  n: number,
  lr: number,
  decay: number,
): void {
  const shrink = f(f(lr) * f(decay));
  for (let i = 0; i < n; i++) {
    const weight = m.f32[(w >>> 2) + i]!;
    const h = m.f32[(g >>> 2) + i]!;
    const sum = f(m.f32[(norm >>> 2) + i]! + f(h * h));
    m.f32[(norm >>> 2) + i] = sum;
    m.f32[(w >>> 2) + i] = f(weight - f(f(f(lr) / divisor(f(Math.sqrt(sum)))) * h)) - f(shrink * weight);
  }
}
