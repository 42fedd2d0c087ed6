/** @file Softmax over groups of neighbouring floats, in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { put } from './loops.js';
import { dotRun } from './runs.js';

const f = Math.fround;

/** y[r, g, :] = softmax of x[r, g, :] over what the mask keeps, else 0. */
export const softmaxF32 = twin(
  KERNEL.softmaxF32,
  (m, { x, xStride, mask, maskStride, maskStep, y, yStride, rows, groups, width }) => {
    for (let r = 0; r < rows; r++) {
      for (let g = 0; g < groups; g++) {
        const [from, to] = [(x >>> 2) + r * xStride + g * width, (y >>> 2) + r * yStride + g * width];
        const kept = (i: number) => mask === 0 || m.f32[(mask >>> 2) + r * maskStride + g * maskStep + i] !== 0;
        let top = Number.NEGATIVE_INFINITY;
        for (let i = 0; i < width; i++) if (kept(i)) top = Math.max(top, m.f32[from + i]!);
        const lanes = new Float32Array(4);
        for (let i = 0; i < width; i++) {
          const e = kept(i) && top !== Number.NEGATIVE_INFINITY ? f(Math.exp(f(m.f32[from + i]! - top))) : 0;
          m.f32[to + i] = e;
          lanes[i % 4]! += e;
        }
        const sum = f(f(lanes[0]! + lanes[2]!) + f(lanes[1]! + lanes[3]!));
        if (sum === 0) continue;
        for (let i = 0; i < width; i++) m.f32[to + i] = m.f32[to + i]! / sum;
      }
    }
  },
);

/** dx (+)= y * (dy - dot of dy and y), per group. */
export const softmaxGradF32 = twin(
  KERNEL.softmaxGradF32,
  (m, { dy, dyStride, y, yStride, dx, dxStride, rows, groups, width, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let g = 0; g < groups; g++) {
        const [a, b] = [(dy >>> 2) + r * dyStride + g * width, (y >>> 2) + r * yStride + g * width];
        const mean = dotRun(m, a, b, width);
        for (let i = 0; i < width; i++) {
          const value = f(m.f32[b + i]! * f(m.f32[a + i]! - mean));
          put(m, (dx >>> 2) + r * dxStride + g * width + i, value, acc);
        }
      }
    }
  },
);
