/** @file The CUDA matrix products, in the simulator, against the reference. */
import fc from 'fast-check';
import t from 'tap';
import { FUSED_ACTIVATION } from '../../src/memory/kinds.js';
import type { Views } from '../../src/memory/views.js';
import * as dense from '../../src/runtime/backends/reference/dense.js';
import { wordsInOrder } from '../../src/runtime/backends/reference/twin.js';
import { KERNEL } from '../../src/runtime/kernels/kernels.js';
import { identical, randomFloats, stream } from '../kernels/both.js';
import { blockSizes, gemmSizes, layOut } from '../kernels/gemm-cases.js';
import { near, type Plain, SCHEDULES, withTwin } from './twin.js';

const gemm = dense.gemmF32 as unknown as Plain;

/** Products are at most 256: two sums of k of them, each rounded k times, differ by less than this. */
const rounding = (k: number) => near(1e-6, k ** 2 * 2 ** -15);

t.test('gemmF32 equals its reference: to the bit with whole numbers, within rounding else', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(gemmSizes, (size) =>
        h.scope(() => {
          const { begin, args } = layOut(h, size);
          twin.run(h, begin, 'gemmF32', gemm, args, size.integers ? identical : rounding(size.k));
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);

t.test('tiles end anywhere, and either operand may be transposed', (t) =>
  withTwin((twin, h) => {
    for (const size of blockSizes()) {
      h.scope(() => {
        const small = { ...size, m: Math.min(size.m, 70), n: Math.min(size.n, 130), k: Math.min(size.k, 70) };
        const { begin, args } = layOut(h, { ...small, integers: true });
        twin.run(h, begin, 'gemmF32', gemm, args);
      });
    }
    for (const k of [16, 17]) {
      h.scope(() => {
        const size = { pads: [0, 0, 0], skews: [], acc: 1, integers: true, seed: k };
        const { begin, args } = layOut(h, { ...size, m: 64, n: 65, k, layouts: ['rows', 'rows'] });
        twin.run(h, begin, 'gemmF32', gemm, args);
      });
    }
  })(t),
);

const ACTIVATIONS = new Map([
  [FUSED_ACTIVATION.relu as number, dense.reluF32],
  [FUSED_ACTIVATION.sigmoid, dense.sigmoidF32],
  [FUSED_ACTIVATION.tanh, dense.tanhF32],
]);

/** The product, the bias and the activation one after the other. */
function layer(m: Views, ...operands: number[]): void {
  const [bias, activation] = operands.slice(11) as [number, number];
  const words = wordsInOrder(KERNEL.gemmF32, [...operands.slice(0, 11), 0, 0]);
  dense.gemmF32.named(m, words);
  const { c, cStride, m: rows, n: cols } = words;
  const inPlace = { x: c, xStride: cStride, rows, cols };
  if (bias !== 0) dense.addBiasF32.named(m, { ...inPlace, bias, dst: c, dstStride: cStride });
  ACTIVATIONS.get(activation)?.named(m, { ...inPlace, y: c, yStride: cStride });
}

t.test('gemmBiasF32 is a product, a bias and an activation in one', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(gemmSizes, (size) =>
        h.scope(() => {
          const next = stream(size.seed);
          const { begin, args } = layOut(h, { ...size, integers: true, acc: 0 });
          const bias = size.seed % 3 === 0 ? 0 : h.putF32(randomFloats(next, size.n), size.skews[3]);
          const activation = Math.abs(size.seed) % 4;
          const operands = [...args.slice(0, 11), bias, activation] as number[];
          twin.run(
            h,
            begin,
            'gemmBiasF32',
            layer,
            operands,
            activation <= FUSED_ACTIVATION.relu ? identical : near(4e-7, 1e-44),
          );
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);
