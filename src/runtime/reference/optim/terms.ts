/** @file Terms that several row optimizers have. */
import type { Views } from '../../../memory/views.js';

const f = Math.fround;

/** h = g + decay * w, of the floats at indices `g` and `w`. */
export function decayedGradient(m: Views, g: number, w: number, decay: number): number {
  return f(m.f32[g]! + f(f(decay) * m.f32[w]!));
}

/** Sum of squares of `n` floats at index `at`: four lanes over the whole quads, (0 + 1) + (2 + 3), then the rest in order. */
export function sumSquares(m: Views, at: number, n: number): number {
  const lanes = [0, 0, 0, 0];
  const body = n & ~3;
  for (let i = 0; i < body; i++) lanes[i & 3] = f(lanes[i & 3]! + f(m.f32[at + i]! * m.f32[at + i]!));
  let sum = f(f(lanes[0]! + lanes[1]!) + f(lanes[2]! + lanes[3]!));
  for (let i = body; i < n; i++) sum = f(sum + f(m.f32[at + i]! * m.f32[at + i]!));
  return sum;
}
