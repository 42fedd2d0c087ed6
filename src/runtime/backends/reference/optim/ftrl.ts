/** @file FTRL with the l1 of the literature, in plain TypeScript. */
import type { Views } from '../../../../memory/views.js';
import { stepFtrl } from '../dense/ftrl.js';

export function applyStandardFtrlF32(
  m: Views,
  w: number,
  norm: number,
  zero: number,
  g: number,
  n: number,
  lr: number,
  beta: number,
  l1: number,
  l2: number,
): void {
  stepFtrl(m, w, norm, zero, g, n, lr, beta, l1, l2, (z) => (z < 0 || Object.is(z, -0) ? -1 : 1));
}
