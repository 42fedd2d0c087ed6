/** @file Adamom and the dense rmsprops in plain TypeScript, f32 at every operation. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { decayedGradient, divisor } from './terms.js';

const f = Math.fround;
const root = (x: number): number => f(Math.sqrt(x));

/** Slots m, v, c. `second` is the rule with epsilon outside of the root; `updates` 0 keeps the slots. */
export const applyAdamomF32 = twin(
  KERNEL.applyAdamomF32,
  (views, { w, m, v, c, g, n, lr, ada, mom, epsilon, decay, second, updates }) => {
    const { f32 } = views;
    for (let i = 0; i < n; i++) {
      const [weight, mean, square, count] = [w, m, v, c].map((at) => (at >>> 2) + i) as [
        number,
        number,
        number,
        number,
      ];
      if (updates) {
        const h = decayedGradient(views, (g >>> 2) + i, weight, decay);
        f32[mean] = f(f(mom) * f32[mean]!) + f(f(1 - f(mom)) * h);
        f32[square] = f(f(ada) * f32[square]!) + f(h * h);
        f32[count] = f(f(ada) * f32[count]!) + 1;
      }
      const ratio = f(f32[square]! / divisor(f32[count]!));
      const scale = second ? f(root(ratio) + f(epsilon)) : root(f(ratio + f(epsilon)));
      f32[weight] = f32[weight]! - f(f(f32[mean]! * f(lr)) / divisor(scale));
    }
  },
);

/** Slots m, v. */
export const applyDenseRmspropF32 = twin(
  KERNEL.applyDenseRmspropF32,
  (views, { w, m, v, g, n, lr, beta1, beta2, epsilon, decay, second }) => {
    const { f32 } = views;
    for (let i = 0; i < n; i++) {
      const [weight, mean, square] = [w, m, v].map((at) => (at >>> 2) + i) as [number, number, number];
      const h = decayedGradient(views, (g >>> 2) + i, weight, decay);
      const before = f32[square]!;
      const hh = f(h * h);
      const after = second ? f(f(f(beta2) * before) + hh) : f(before + f(f(hh - before) * f(1 - f(beta2))));
      const scale = second ? f(root(after) + f(epsilon)) : root(f(after + f(epsilon)));
      f32[square] = after;
      f32[mean] = f(f(beta1) * f32[mean]!) + f(f(h * f(lr)) / divisor(scale));
      f32[weight] = f32[weight]! - f32[mean]!;
    }
  },
);
