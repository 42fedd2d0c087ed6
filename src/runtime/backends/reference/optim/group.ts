/** @file Optimizers with one norm per row, in plain TypeScript. */
import type { Views } from '../../../../memory/views.js';
import { collectFtrl } from '../dense/ftrl.js';
import { decayedGradient, divisor, sumSquares } from './terms.js';

const f = Math.fround;

/** State: one float. Leaves the gradient changed, and the weights where l or c is no finite number. */
export function applyGroupAdagradF32(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  beta: number,
  l2: number,
  decay: number,
): void {
  const weights = w >>> 2;
  const z = g >>> 2;
  let top = 0;
  for (let i = 0; i < n; i++) {
    m.f32[z + i] = decayedGradient(m, z + i, weights + i, decay);
    top = Math.max(top, f(m.f32[z + i]! * m.f32[z + i]!));
  }
  const q = f(m.f32[state >>> 2]! + top);
  m.f32[state >>> 2] = q;
  const l = f(f(lr) / f(f(beta) + f(Math.sqrt(q))));
  for (let i = 0; i < n; i++) m.f32[z + i] = m.f32[z + i]! - f(m.f32[weights + i]! / l);
  const c = f(Math.sqrt(sumSquares(m, z, n)));
  if (!(Number.isFinite(c) && Number.isFinite(l))) return;
  const isZero = c < f(l2) || c === 0;
  const factor = f(f(-l * f(c - f(l2))) / c);
  for (let i = 0; i < n; i++) m.f32[weights + i] = isZero ? 0 : factor * m.f32[z + i]!;
}

/** State: norm[n], zero[n]. */
export function applyGroupFtrlF32(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  beta: number,
  l1: number,
  l2: number,
): void {
  const weights = w >>> 2;
  const norm = state >>> 2;
  const zero = norm + n;
  const rate = f(lr);
  if (rate === 0) {
    collectFtrl(m, state, state + n * 4, g, n);
    return;
  }
  for (let i = 0; i < n; i++) {
    const grad = m.f32[(g >>> 2) + i]!;
    const before = m.f32[norm + i]!;
    const after = f(before + f(grad * grad));
    const s = f(f(f(Math.sqrt(after)) - f(Math.sqrt(before))) / rate);
    m.f32[norm + i] = after;
    m.f32[zero + i] = f(m.f32[zero + i]! + grad) - f(s * m.f32[weights + i]!);
  }
  const c = f(Math.sqrt(sumSquares(m, zero, n)));
  const isZero = c < f(l1) || c === 0;
  const factor = Number.isFinite(c) ? f(f(f(l1) - c) / c) : -1;
  const l2Rate = f(f(l2) * rate);
  for (let i = 0; i < n; i++) {
    const scale = divisor(f(f(f(beta) + f(Math.sqrt(m.f32[norm + i]!))) + l2Rate));
    m.f32[weights + i] = isZero ? 0 : f(f(rate * m.f32[zero + i]!) * factor) / scale;
  }
}
