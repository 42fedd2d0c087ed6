/** @file Optimizers with one norm per row, in plain TypeScript. */
import { collectFtrl } from '../dense/ftrl.js';
import { rowStep } from './row-step.js';
import { decayedGradient, divisor, sumSquares } from './terms.js';

const f = Math.fround;

/** State: one float. Leaves the gradient changed, and the weights where l or c is no finite number. */
export const applyGroupAdagradF32 = rowStep((row, beta: number, l2: number, decay: number) => {
  const { m, f32, weights, state, gradient: z, n, rate } = row;
  let top = 0;
  for (let i = 0; i < n; i++) {
    f32[z + i] = decayedGradient(m, z + i, weights + i, decay);
    top = Math.max(top, f(f32[z + i]! * f32[z + i]!));
  }
  const q = f(f32[state]! + top);
  f32[state] = q;
  const l = f(rate / f(f(beta) + f(Math.sqrt(q))));
  for (let i = 0; i < n; i++) f32[z + i] = f32[z + i]! - f(f32[weights + i]! / l);
  const c = f(Math.sqrt(sumSquares(m, z, n)));
  if (!(Number.isFinite(c) && Number.isFinite(l))) return;
  const isZero = c < f(l2) || c === 0;
  const factor = f(f(-l * f(c - f(l2))) / c);
  for (let i = 0; i < n; i++) f32[weights + i] = isZero ? 0 : factor * f32[z + i]!;
});

/** State: norm[n], zero[n]. */
export const applyGroupFtrlF32 = rowStep((row, beta: number, l1: number, l2: number) => {
  const { m, f32, weights, state: norm, gradient, n, rate } = row;
  const zero = norm + n;
  if (rate === 0) {
    collectFtrl(m, norm * 4, zero * 4, gradient * 4, n);
    return;
  }
  for (let i = 0; i < n; i++) {
    const grad = f32[gradient + i]!;
    const before = f32[norm + i]!;
    const after = f(before + f(grad * grad));
    const s = f(f(f(Math.sqrt(after)) - f(Math.sqrt(before))) / rate);
    f32[norm + i] = after;
    f32[zero + i] = f(f32[zero + i]! + grad) - f(s * f32[weights + i]!);
  }
  const c = f(Math.sqrt(sumSquares(m, zero, n)));
  const isZero = c < f(l1) || c === 0;
  const factor = Number.isFinite(c) ? f(f(f(l1) - c) / c) : -1;
  const l2Rate = f(f(l2) * rate);
  for (let i = 0; i < n; i++) {
    const scale = divisor(f(f(f(beta) + f(Math.sqrt(f32[norm + i]!))) + l2Rate));
    f32[weights + i] = isZero ? 0 : f(f(rate * f32[zero + i]!) * factor) / scale;
  }
});
