/** @file Adam and amsgrad in plain TypeScript, f32 at every operation. */
import type { Views } from '../../../memory/views.js';
import { decayedGradient } from './terms.js';

const f = Math.fround;

/** A power below the normal floats becomes 0: no step changes, and no arithmetic on subnormals follows. */
function nextPower(power: number, beta: number): number {
  const next = f(power * beta);
  return next < 2 ** -126 ? 0 : next;
}

function run(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  beta1: number,
  beta2: number,
  decay: number,
  epsilon: number,
  nesterov: number,
  keepsMax: boolean,
): void {
  const powers = (state >>> 2) + (keepsMax ? 3 : 2) * n;
  const [power1, power2] = [m.f32[powers]!, m.f32[powers + 1]!];
  const rate = f(f(f(lr) * f(Math.sqrt(f(1 - power2)))) / f(1 - power1));
  const [rest1, rest2] = [f(1 - f(beta1)), f(1 - f(beta2))];
  for (let i = 0; i < n; i++) {
    const weight = (w >>> 2) + i;
    const mean = (state >>> 2) + i;
    const square = mean + n;
    const h = decayedGradient(m, (g >>> 2) + i, weight, decay);
    const first = f(m.f32[mean]! + f(f(h - m.f32[mean]!) * rest1));
    const second = f(m.f32[square]! + f(f(f(h * h) - m.f32[square]!) * rest2));
    m.f32[mean] = first;
    m.f32[square] = second;
    let scale = second;
    if (keepsMax) {
      scale = Math.max(m.f32[square + n]!, second);
      m.f32[square + n] = scale;
    }
    const direction = nesterov ? f(f(h * rest1) + f(f(beta1) * first)) : first;
    m.f32[weight] = m.f32[weight]! - f(f(direction * rate) / f(f(Math.sqrt(scale)) + f(epsilon)));
  }
  m.f32[powers] = nextPower(power1, f(beta1));
  m.f32[powers + 1] = nextPower(power2, f(beta2));
}

/** State: m[n], v[n], beta1_power, beta2_power. */
export function applyAdamF32(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  beta1: number,
  beta2: number,
  decay: number,
  epsilon: number,
  nesterov: number,
): void {
  run(m, w, state, g, n, lr, beta1, beta2, decay, epsilon, nesterov, false);
}

/** State: m[n], v[n], vhat[n], beta1_power, beta2_power. */
export function applyAmsgradF32(
  m: Views,
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  beta1: number,
  beta2: number,
  decay: number,
  epsilon: number,
  nesterov: number,
): void {
  run(m, w, state, g, n, lr, beta1, beta2, decay, epsilon, nesterov, true);
}
