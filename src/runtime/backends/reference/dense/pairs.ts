/** @file Products of all pairs of fields of two sides, in plain TypeScript. */

import { PAIR_ROWS } from '../../../../memory/sum-blocks.js';
import type { Views } from '../../../../memory/views.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { transposeInnerF32 } from './blocks.js';
import { multiplyRun } from './runs.js';
import { smallMatMul } from './small-matmul.js';

/** out[i, j, :] (+)= left[i, :] * right[j, :]; places count floats. */
function products(
  m: Views,
  left: number,
  right: number,
  out: number,
  [lefts, rights, dim]: readonly [number, number, number],
  acc: number,
): void {
  for (let i = 0; i < lefts; i++) {
    for (let j = 0; j < rights; j++) {
      multiplyRun(m, left + i * dim, right + j * dim, out + (i * rights + j) * dim, dim, acc);
    }
  }
}

/** dx[i, :] (+)= sum over j of dy[i * step + j * otherStep, :] * other[j, :]. */
function productsGrad(
  m: Views,
  dy: number,
  other: number,
  dx: number,
  [count, others, dim, step, otherStep]: readonly [number, number, number, number, number],
  acc: number,
): void {
  for (let i = 0; i < count; i++) {
    if (others === 0 && !acc) m.f32.fill(0, dx + i * dim, dx + (i + 1) * dim);
    for (let j = 0; j < others; j++) {
      const at = dy + (i * step + j * otherStep) * dim;
      multiplyRun(m, at, other + j * dim, dx + i * dim, dim, acc || j > 0 ? 1 : 0);
    }
  }
}

/** out[r, i, j, :] (+)= left[r, i, :] * right[r, j, :]. */
export const pairProductsF32 = twin(
  KERNEL.pairProductsF32,
  (m, { left, leftStride, right, rightStride, out, outStride, rows, lefts, rights, dim, acc }) => {
    for (let r = 0; r < rows; r++) {
      const [l, o] = [(left >>> 2) + r * leftStride, (out >>> 2) + r * outStride];
      products(m, l, (right >>> 2) + r * rightStride, o, [lefts, rights, dim], acc);
    }
  },
);

/** Gradient of pairProductsF32 for the side of `count` vectors. */
export const pairProductsGradF32 = twin(
  KERNEL.pairProductsGradF32,
  (m, { dy, dyStride, other, otherStride, dx, dxStride, rows, count, others, dim, step, otherStep, acc }) => {
    for (let r = 0; r < rows; r++) {
      const [g, o] = [(dy >>> 2) + r * dyStride, (other >>> 2) + r * otherStride];
      productsGrad(m, g, o, (dx >>> 2) + r * dxStride, [count, others, dim, step, otherStep], acc);
    }
  },
);

/** out[r, o, :] (+)= sum over i and j of w[i * rights + j, o] * left[r, i, :] * right[r, j, :]. */
export const cinF32 = twin(
  KERNEL.cinF32,
  (m, { left, leftStride, right, rightStride, w, out, outStride, rows, lefts, rights, dim, outs, scratch, acc }) => {
    const [weights, z] = [w >>> 2, scratch >>> 2];
    for (let r = 0; r < rows; r++) {
      products(m, (left >>> 2) + r * leftStride, (right >>> 2) + r * rightStride, z, [lefts, rights, dim], 0);
      const [a, b] = [
        { at: weights, row: 1, col: outs },
        { at: z, row: dim, col: 1 },
      ];
      smallMatMul(m, a, b, { at: (out >>> 2) + r * outStride, row: dim }, [outs, dim, lefts * rights], acc);
    }
  },
);

/** Gradients of cinF32 for both sides and, summed over the rows in blocks, for w. */
export const cinGradF32 = twin(
  KERNEL.cinGradF32,
  (
    m,
    {
      dy,
      dyStride,
      left,
      leftStride,
      right,
      rightStride,
      w,
      dLeft,
      dLeftStride,
      accLeft,
      dRight,
      dRightStride,
      accRight,
      dw,
      rows,
      lefts,
      rights,
      dim,
      outs,
      scratch,
    },
  ) => {
    const pairs = lefts * rights;
    const [z, dz, dWeights] = [scratch >>> 2, (scratch >>> 2) + pairs * dim, dw >>> 2];
    const transposed = dz + pairs * dim;
    const blockSum = transposed + outs * dim;
    m.f32.fill(0, dWeights, dWeights + pairs * outs);
    let sum = dWeights;
    const addBlock = () => {
      for (let i = 0; sum !== dWeights && i < pairs * outs; i++) m.f32[dWeights + i]! += m.f32[sum + i]!;
    };
    for (let r = 0; r < rows; r++) {
      if (r > 0 && r % PAIR_ROWS === 0) {
        addBlock();
        sum = blockSum;
        m.f32.fill(0, sum, sum + pairs * outs);
      }
      const [g, l, o] = [(dy >>> 2) + r * dyStride, (left >>> 2) + r * leftStride, (right >>> 2) + r * rightStride];
      products(m, l, o, z, [lefts, rights, dim], 0);
      transposeInnerF32(m, g * 4, 0, transposed * 4, 0, 1, 1, outs, dim, 0);
      const byColumn = { at: transposed, row: outs, col: 1 };
      smallMatMul(m, { at: z, row: dim, col: 1 }, byColumn, { at: sum, row: outs }, [pairs, outs, dim], 1);
      const byRow = { at: g, row: dim, col: 1 };
      smallMatMul(m, { at: w >>> 2, row: outs, col: 1 }, byRow, { at: dz, row: dim }, [pairs, dim, outs], 0);
      productsGrad(m, dz, o, (dLeft >>> 2) + r * dLeftStride, [lefts, rights, dim, rights, 1], accLeft);
      productsGrad(m, dz, l, (dRight >>> 2) + r * dRightStride, [rights, lefts, dim, 1, rights], accRight);
    }
    addBlock();
  },
);
