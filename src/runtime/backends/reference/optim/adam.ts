/** @file Adam and amsgrad in plain TypeScript, f32 at every operation. */
import type { Views } from '../../../../memory/views.js';
import { rowStep } from './row-step.js';
import { decayedGradient, divisor } from './terms.js';

const f = Math.fround;

/** A power below the normal floats becomes 0: no step changes, and no arithmetic on subnormals follows. */
function nextPower(power: number, beta: number): number {
  const next = f(power * beta);
  return next < 2 ** -126 ? 0 : next;
}

export interface AdamConstants {
  /** With the correction of the bias. */
  readonly rate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly decay: number;
  readonly epsilon: number;
  readonly nesterov: number;
}

/** Indices of one weight, its slots and its gradient; with `max`, amsgrad's. */
export interface AdamPlace {
  readonly weight: number;
  readonly mean: number;
  readonly square: number;
  readonly gradient: number;
  readonly max?: number;
}

/** One weight. */
export function stepAdam(m: Views, at: AdamPlace, constants: AdamConstants): void {
  const { f32 } = m;
  const { rate, beta1, beta2, decay, epsilon, nesterov } = constants;
  const [rest1, rest2] = [f(1 - f(beta1)), f(1 - f(beta2))];
  const h = decayedGradient(m, at.gradient, at.weight, decay);
  const first = f(f32[at.mean]! + f(f(h - f32[at.mean]!) * rest1));
  const second = f(f32[at.square]! + f(f(f(h * h) - f32[at.square]!) * rest2));
  f32[at.mean] = first;
  f32[at.square] = second;
  let scale = second;
  if (at.max !== undefined) {
    scale = Math.max(f32[at.max]!, second);
    f32[at.max] = scale;
  }
  const direction = nesterov ? f(f(h * rest1) + f(f(beta1) * first)) : first;
  f32[at.weight] = f32[at.weight]! - f(f(direction * rate) / f(f(Math.sqrt(scale)) + divisor(f(epsilon))));
}

/** State: m[n], v[n], vhat[n] of those that keep the largest, beta1_power, beta2_power. */
const stepping = (keepsMax: boolean) =>
  rowStep((row, beta1: number, beta2: number, decay: number, epsilon: number, nesterov: number) => {
    const { m, f32, n } = row;
    const powers = row.state + (keepsMax ? 3 : 2) * n;
    const [power1, power2] = [f32[powers]!, f32[powers + 1]!];
    const rate = f(f(row.rate * f(Math.sqrt(f(1 - power2)))) / f(1 - power1));
    for (let i = 0; i < n; i++) {
      const mean = row.state + i;
      const place = { weight: row.weights + i, mean, square: mean + n, gradient: row.gradient + i };
      const constants = { rate, beta1, beta2, decay, epsilon, nesterov };
      stepAdam(m, keepsMax ? { ...place, max: mean + 2 * n } : place, constants);
    }
    f32[powers] = nextPower(power1, f(beta1));
    f32[powers + 1] = nextPower(power2, f(beta2));
  });

export const applyAdamF32 = stepping(false);
export const applyAmsgradF32 = stepping(true);
