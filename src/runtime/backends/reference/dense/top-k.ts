/** @file The largest values of groups of neighbouring floats, in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { put } from './loops.js';

/** The `k` largest of each group, largest first, and their places; of equal values the first comes first. */
export const topKF32 = twin(
  KERNEL.topKF32,
  (m, { x, xStride, values, valuesStride, indices, indicesStride, rows, groups, width, k }) => {
    for (let r = 0; r < rows; r++) {
      for (let g = 0; g < groups; g++) {
        const from = (x >>> 2) + r * xStride + g * width;
        const order = Array.from({ length: width }, (_, i) => i);
        order.sort((a, b) => m.f32[from + b]! - m.f32[from + a]! || a - b);
        for (let i = 0; i < k; i++) {
          m.f32[(values >>> 2) + r * valuesStride + g * k + i] = m.f32[from + order[i]!]!;
          m.f32[(indices >>> 2) + r * indicesStride + g * k + i] = order[i]!;
        }
      }
    }
  },
);

/** dx[r, g, indices[r, g, i]] (+)= dy[r, g, i], the rest 0 unless `acc` is set. */
export const topKGradF32 = twin(
  KERNEL.topKGradF32,
  (m, { dy, dyStride, indices, indicesStride, dx, dxStride, rows, groups, width, k, acc }) => {
    for (let r = 0; r < rows; r++) {
      const row = (dx >>> 2) + r * dxStride;
      if (!acc) m.f32.fill(0, row, row + groups * width);
      for (let i = 0; i < groups * k; i++) {
        const place = Math.floor(i / k) * width + m.f32[(indices >>> 2) + r * indicesStride + i]!;
        put(m, row + place, m.f32[(dy >>> 2) + r * dyStride + i]!, 1);
      }
    }
  },
);
