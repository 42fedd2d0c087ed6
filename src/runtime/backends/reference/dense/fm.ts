/** @file The second-order term of a factorization machine in plain TypeScript. */

import type { Views } from '../../../../memory/views.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { put } from './loops.js';

const f = Math.fround;

/** Sums over the fields of column `c` and of its square; `row` counts floats. */
function sums(m: Views, row: number, fields: number, dim: number, c: number): readonly [number, number] {
  let [s, q] = [0, 0];
  for (let i = 0; i < fields; i++) {
    const v = m.f32[row + i * dim + c]!;
    s = f(s + v);
    q = f(q + f(v * v));
  }
  return [s, q];
}

/** out[r] (+)= 0.5 * sum over c of (S[c]^2 - Q[c]), in the order assembly/dense/fm.ts documents. */
export const fmPairsF32 = twin(KERNEL.fmPairsF32, (m, { x, xStride, out, outStride, rows, fields, dim, acc }) => {
  for (let r = 0; r < rows; r++) {
    const term = (c: number) => {
      const [s, q] = sums(m, (x >>> 2) + r * xStride, fields, dim, c);
      return f(f(s * s) - q);
    };
    const t = new Float32Array(4);
    let c = 0;
    for (; c + 4 <= dim; c += 4) for (let i = 0; i < 4; i++) t[i]! += term(c + i);
    let sum = f(f(t[0]! + t[2]!) + f(t[1]! + t[3]!));
    for (; c < dim; c++) sum = f(sum + term(c));
    put(m, (out >>> 2) + r * outStride, f(0.5 * sum), acc);
  }
});

/** dx[r, f, c] (+)= dy[r] * (S[c] - x[r, f, c]). */
export const fmPairsGradF32 = twin(
  KERNEL.fmPairsGradF32,
  (m, { dy, dyStride, x, xStride, dx, dxStride, rows, fields, dim, acc }) => {
    for (let r = 0; r < rows; r++) {
      const g = m.f32[(dy >>> 2) + r * dyStride]!;
      const row = (x >>> 2) + r * xStride;
      for (let c = 0; c < dim; c++) {
        const [s] = sums(m, row, fields, dim, c);
        for (let i = 0; i < fields; i++) {
          const at = i * dim + c;
          put(m, (dx >>> 2) + r * dxStride + at, f(g * f(s - m.f32[row + at]!)), acc);
        }
      }
    }
  },
);
