/** @file The FTRL step of both kinds of l1, in plain TypeScript. */
import type { Views } from '../../../../memory/views.js';
import { divisor } from '../optim/terms.js';

const f = Math.fround;

/** A step at a rate of 0: weights stay, their sums go on. */
export function collectFtrl({ f32 }: Views, norm: number, zero: number, g: number, n: number): void {
  for (let i = 0; i < n; i++) {
    const grad = f32[(g >>> 2) + i]!;
    f32[(norm >>> 2) + i] = f32[(norm >>> 2) + i]! + f(grad * grad);
    f32[(zero >>> 2) + i] = f32[(zero >>> 2) + i]! + grad;
  }
}

/** `sideOf` says how l1 acts: upstream's indicator of a negative sum, or its sign. */
export function stepFtrl(
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
  sideOf: (z: number) => number,
): void {
  const rate = f(lr);
  if (rate === 0) {
    collectFtrl(m, norm, zero, g, n);
    return;
  }
  const threshold = f(l1);
  const l2Rate = f(f(l2) * rate);
  for (let i = 0; i < n; i++) {
    const grad = m.f32[(g >>> 2) + i]!;
    const before = m.f32[(norm >>> 2) + i]!;
    const after = f(before + f(grad * grad));
    const root = f(Math.sqrt(after));
    const s = f(f(root - f(Math.sqrt(before))) / rate);
    const z = f(m.f32[(zero >>> 2) + i]! + f(grad - f(s * m.f32[(w >>> 2) + i]!)));
    const push = f(sideOf(z) * threshold);
    const step = f(f(rate * f(push - z)) / divisor(f(f(root + f(beta)) + l2Rate)));
    m.f32[(norm >>> 2) + i] = after;
    m.f32[(zero >>> 2) + i] = z;
    m.f32[(w >>> 2) + i] = Math.abs(z) > threshold ? step : 0;
  }
}
