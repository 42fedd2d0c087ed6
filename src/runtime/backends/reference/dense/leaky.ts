/** @file Rectifiers with a slope below zero in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { sumColumn } from './block-sums.js';
import { map, zip } from './combinators.js';
import { put } from './loops.js';

const f = Math.fround;

export const leakyReluF32 = map(KERNEL.leakyReluF32, (x, { slope }) => (x > 0 ? x : f(x * f(slope))));
export const leakyReluGradF32 = zip(KERNEL.leakyReluGradF32, (dy, x, { slope }) => (x > 0 ? dy : f(dy * f(slope))));
export const preluF32 = zip(KERNEL.preluF32, (x, slope) => (x > 0 ? x : f(x * slope)));

/** dx[r, c] (+)= dy[r, c] where x[r, c] > 0, else slope[c] * dy[r, c]. */
export const preluGradF32 = twin(
  KERNEL.preluGradF32,
  (m, { dy, dyStride, x, xStride, slope, dx, dxStride, rows, cols, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) {
        const grad = m.f32[(dy >>> 2) + r * dyStride + c]!;
        const value = m.f32[(x >>> 2) + r * xStride + c]! > 0 ? grad : f(grad * m.f32[(slope >>> 2) + c]!);
        put(m, (dx >>> 2) + r * dxStride + c, value, acc);
      }
    }
  },
);

/** dslope[c] = sum over r of dy[r, c] * x[r, c] where x[r, c] is not above 0, from 0 in row order. */
export const preluSlopeGradF32 = twin(
  KERNEL.preluSlopeGradF32,
  (m, { dy, dyStride, x, xStride, dslope, rows, cols }) => {
    for (let c = 0; c < cols; c++) {
      m.f32[(dslope >>> 2) + c] = sumColumn(rows, 0, (r) => {
        const v = m.f32[(x >>> 2) + r * xStride + c]!;
        return v > 0 ? 0 : f(m.f32[(dy >>> 2) + r * dyStride + c]! * v);
      });
    }
  },
);
