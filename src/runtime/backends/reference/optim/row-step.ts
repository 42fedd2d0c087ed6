/** @file The words that every row optimizer begins with, written once. */
import type { Views } from '../../../../memory/views.js';

/** A row to step: indices of its floats, how many weights it has, and the rate in f32. */
export interface RowStep {
  readonly m: Views;
  readonly f32: Float32Array;
  readonly weights: number;
  readonly state: number;
  readonly gradient: number;
  readonly n: number;
  readonly rate: number;
}

/** A row optimizer as it is called: addresses of weights, state and gradient, the rate, then constants of its own. */
export function rowStep<Constants extends readonly number[]>(step: (row: RowStep, ...constants: Constants) => void) {
  return (m: Views, w: number, state: number, g: number, n: number, lr: number, ...constants: Constants): void => {
    const at = { weights: w >>> 2, state: state >>> 2, gradient: g >>> 2 };
    step({ m, f32: m.f32, ...at, n, rate: Math.fround(lr) }, ...constants);
  };
}
