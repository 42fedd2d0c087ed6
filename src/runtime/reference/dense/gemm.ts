/** @file Matrix product in plain TypeScript: the triple loop the WASM kernel equals bit for bit. */
import type { Views } from '../../../memory/views.js';

const f = Math.fround;

/** C (+)= A * B, summed over k in increasing order from C (`acc`) or 0. Needs no scratch and leaves it alone. */
export function gemmF32(
  memory: Views,
  a: number,
  aRowStride: number,
  aColStride: number,
  b: number,
  bRowStride: number,
  bColStride: number,
  c: number,
  cStride: number,
  m: number,
  n: number,
  k: number,
  acc: number,
  _scratch: number,
): void {
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      const at = (c >>> 2) + i * cStride + j;
      let sum = acc ? memory.f32[at]! : 0;
      for (let p = 0; p < k; p++) {
        const left = memory.f32[(a >>> 2) + i * aRowStride + p * aColStride]!;
        const right = memory.f32[(b >>> 2) + p * bRowStride + j * bColStride]!;
        sum = f(sum + f(left * right));
      }
      memory.f32[at] = sum;
    }
  }
}

/** The triple loop uses no scratch. */
export function gemmScratchBytes(_memory: Views, _m: number, _n: number, _k: number): number {
  return 0;
}
