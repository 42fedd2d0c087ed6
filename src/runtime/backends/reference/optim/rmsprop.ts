/** @file Both rmsprops of the row optimizers in plain TypeScript: f64 between the loads and the stores. */
import type { Views } from '../../../../memory/views.js';

const f = Math.fround;

function run(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  rates: readonly [number, number, number, number],
) {
  const [lr, decay, mu, rest] = rates;
  for (let i = 0; i < n; i++) {
    const weight = m.f32[(w >>> 2) + i]!;
    const dx = m.f32[(g >>> 2) + i]! + decay * weight;
    const after = f(mu * m.f32[(state >>> 2) + i]! + rest * (dx * dx));
    m.f32[(state >>> 2) + i] = after;
    m.f32[(w >>> 2) + i] = weight - (lr / (Math.sqrt(after) + 1)) * dx;
  }
}

/** State: n[n]. The rate is the configured one. */
export function applyRmspropF32(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  decay: number,
  mu: number,
): void {
  run(m, w, state, g, n, [f(lr), f(decay), f(mu), 1 - f(mu)]);
}

/** State: n[n]. */
export function applyRmspropV2F32(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  decay: number,
  mu: number,
): void {
  run(m, w, state, g, n, [f(lr), f(decay), f(mu), 1]);
}
