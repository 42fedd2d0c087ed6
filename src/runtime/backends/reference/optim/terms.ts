/** @file Terms that several row optimizers have. */
import type { Views } from '../../../../memory/views.js';

const f = Math.fround;

/** h = g + decay * w, of the floats at indices `g` and `w`. */
export function decayedGradient(m: Views, g: number, w: number, decay: number): number {
  return f(m.f32[g]! + f(f(decay) * m.f32[w]!));
}

const LEAST_ROOT = f(3.743392066509216e-23);

/**
 * What a root or a sum of them is divided by: the root of the smallest float in place of 0, any other root as it is.
 */
export function divisor(root: number): number {
  return root < LEAST_ROOT ? LEAST_ROOT : root;
}

/**
 * Sum of squares of `n` floats at index `at`: four lanes over the whole quads, (0 + 1) + (2 + 3), then the rest in
 * order.
 */
export function sumSquares(m: Views, at: number, n: number): number {
  const lanes = [0, 0, 0, 0];
  const body = n & ~3;
  for (let i = 0; i < body; i++) lanes[i & 3] = f(lanes[i & 3]! + f(m.f32[at + i]! * m.f32[at + i]!));
  let sum = f(f(lanes[0]! + lanes[1]!) + f(lanes[2]! + lanes[3]!));
  for (let i = body; i < n; i++) sum = f(sum + f(m.f32[at + i]! * m.f32[at + i]!));
  return sum;
}
