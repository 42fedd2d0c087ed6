/** @file Both rmsprops of the row optimizers in plain TypeScript: f64 between the loads and the stores. */
import { rowStep } from './row-step.js';

const f = Math.fround;

/** State: n[n]. Old squares are kept by `mu`, and new ones come in by what `share` makes of it. */
const stepping = (share: (mu: number) => number) =>
  rowStep(({ f32, weights, state, gradient, n, rate }, decay: number, mu: number) => {
    const [shrink, keep] = [f(decay), f(mu)];
    for (let i = 0; i < n; i++) {
      const weight = f32[weights + i]!;
      const dx = f32[gradient + i]! + shrink * weight;
      const after = f(keep * f32[state + i]! + share(keep) * (dx * dx));
      f32[state + i] = after;
      f32[weights + i] = weight - (rate / (Math.sqrt(after) + 1)) * dx;
    }
  });

/** The rate is the configured one. */
export const applyRmspropF32 = stepping((mu) => 1 - mu);
export const applyRmspropV2F32 = stepping(() => 1);
