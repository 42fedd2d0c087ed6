/** @file Matrix products per example, in plain TypeScript. */
import type { Views } from '../../../../memory/views.js';
import { smallMatMul } from './small-matmul.js';

/** For each row and group: c (+)= a * b, laid out as the words at `shape` say (assembly/dense/batch-matmul.ts). */
export function batchMatMulF32(
  m: Views,
  a: number,
  aStride: number,
  b: number,
  bStride: number,
  c: number,
  cStride: number,
  rows: number,
  shape: number,
  acc: number,
): void {
  const word = (i: number) => m.u32[(shape >>> 2) + i]!;
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < word(0); g++) {
      const x = { at: (a >>> 2) + r * aStride + g * word(4), row: word(5), col: word(6) };
      const y = { at: (b >>> 2) + r * bStride + g * word(7), row: word(8), col: word(9) };
      const z = { at: (c >>> 2) + r * cStride + g * word(10), row: word(11) };
      smallMatMul(m, x, y, z, [word(1), word(2), word(3)], acc);
    }
  }
}

/** a * b. */
export function multiplyU32(_: Views, a: number, b: number): number {
  return Math.imul(a, b) >>> 0;
}
