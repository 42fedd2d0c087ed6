/** @file Products of small matrices in plain TypeScript; places and strides count floats. */
import type { Views } from '../../../../memory/views.js';
import { put } from './loops.js';
import { sumTerms } from './runs.js';

const f = Math.fround;

export interface Operand {
  readonly at: number;
  readonly row: number;
  readonly col: number;
}

/**
 * c (+)= a * b, [m, k] x [k, n]. Dot products of two contiguous runs have the order of sumTerms, others go in order.
 */
export function smallMatMul(
  views: Views,
  a: Operand,
  b: Operand,
  c: Omit<Operand, 'col'>,
  [m, n, k]: readonly [number, number, number],
  acc: number,
): void {
  const dots = b.col !== 1 && a.col === 1 && b.row === 1;
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      const term = (p: number) =>
        f(views.f32[a.at + i * a.row + p * a.col]! * views.f32[b.at + p * b.row + j * b.col]!);
      let sum = 0;
      if (dots) sum = sumTerms(term, k);
      else for (let p = 0; p < k; p++) sum = f(sum + term(p));
      put(views, c.at + i * c.row + j, sum, acc);
    }
  }
}
