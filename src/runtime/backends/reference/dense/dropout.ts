/** @file Dropout by counters, and division by a number of the batch, in plain TypeScript. */

import { hashU32 } from '../../../../base/random.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { mapRows, put } from './loops.js';

const f = Math.fround;

/** y[r, c] (+)= scale * x[r, c] where hashU32(seed, step, first + r, c) >= drop, else 0. */
export const dropoutF32 = twin(
  KERNEL.dropoutF32,
  (m, { x, xStride, y, yStride, rows, cols, first, step, seed, drop, scale, acc }) => {
    const counter = m.u32[step >>> 2]!;
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) {
        const stays = hashU32(seed, counter, first + r, c) >= drop >>> 0;
        const value = stays ? f(m.f32[(x >>> 2) + r * xStride + c]! * f(scale)) : 0;
        put(m, (y >>> 2) + r * yStride + c, value, acc);
      }
    }
  },
);

/** dst (+)= x / divisor[0], 0 where that is 0. */
export const divideByScalarF32 = twin(
  KERNEL.divideByScalarF32,
  (m, { x, xStride, divisor, dst, dstStride, rows, cols, acc }) => {
    const by = m.f32[divisor >>> 2]!;
    mapRows(m, x, xStride, dst, dstStride, rows, cols, acc, (value) => (by === 0 ? 0 : f(value / by)));
  },
);
