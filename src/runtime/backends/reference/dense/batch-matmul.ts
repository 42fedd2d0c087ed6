/** @file Matrix products per example, in plain TypeScript. */

import { MATMUL_SHAPE } from '../../../../memory/record-layout.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { smallMatMul } from './small-matmul.js';

/** For each row and group: c (+)= a * b, laid out as the words at `shape` say. */
export const batchMatMulF32 = twin(
  KERNEL.batchMatMulF32,
  (m, { a, aStride, b, bStride, c, cStride, rows, shape, acc }) => {
    const word = (name: keyof typeof MATMUL_SHAPE) => m.u32[(shape >>> 2) + MATMUL_SHAPE[name]]!;
    for (let r = 0; r < rows; r++) {
      for (let g = 0; g < word('groups'); g++) {
        const x = { at: (a >>> 2) + r * aStride + g * word('aGroup'), row: word('aRow'), col: word('aCol') };
        const y = { at: (b >>> 2) + r * bStride + g * word('bGroup'), row: word('bRow'), col: word('bCol') };
        const z = { at: (c >>> 2) + r * cStride + g * word('cGroup'), row: word('cRow') };
        smallMatMul(m, x, y, z, [word('m'), word('n'), word('k')], acc);
      }
    }
  },
);

/** a * b. */
export const multiplyU32 = twin(KERNEL.multiplyU32, (_, { a, b }) => {
  return Math.imul(a, b) >>> 0;
});
