/** @file TensorFlow's momentum and adam of dense variables in plain TypeScript, f32 at every operation. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { stepAdam } from './adam.js';

const f = Math.fround;

/** Slot: accum, which does not hold the rate. */
export const applyDenseMomentumF32 = twin(
  KERNEL.applyDenseMomentumF32,
  (views, { w, accum, g, n, lr, mu, nesterov }) => {
    const { f32 } = views;
    for (let i = 0; i < n; i++) {
      const [weight, slot] = [(w >>> 2) + i, (accum >>> 2) + i];
      const gradient = f32[(g >>> 2) + i]!;
      const after = f(f(f(mu) * f32[slot]!) + gradient);
      f32[slot] = after;
      const step = nesterov ? f(f(gradient * f(lr)) + f(f(after * f(mu)) * f(lr))) : f(f(lr) * after);
      f32[weight] = f32[weight]! - step;
    }
  },
);

/** Slots: m, v. The powers of the betas are at the addresses `power1` and `power2`, and stay as they are. */
export const applyDenseAdamF32 = twin(
  KERNEL.applyDenseAdamF32,
  (views, { w, m, v, g, n, lr, power1, power2, beta1, beta2, decay, epsilon, nesterov }) => {
    const root = f(Math.sqrt(f(1 - views.f32[power2 >>> 2]!)));
    const rate = f(f(f(lr) * root) / f(1 - views.f32[power1 >>> 2]!));
    const constants = { rate, beta1, beta2, decay, epsilon, nesterov };
    for (let i = 0; i < n; i++) {
      const [weight, mean, square, gradient] = [w, m, v, g].map((at) => (at >>> 2) + i) as [
        number,
        number,
        number,
        number,
      ];
      stepAdam(views, { weight, mean, square, gradient }, constants);
    }
  },
);
