/** @file CUDA kernels over strided matrices, in the simulator, against their references. */
import t from 'tap';
import { UNARY_KIND } from '../../src/memory/kinds.js';
import * as dense from '../../src/runtime/backends/reference/dense.js';
import { zeroRowsF32 } from '../../src/runtime/backends/reference/sparse.js';
import { forShapes, putMatrix, randomFloats, type Same, type Shape, stream } from '../kernels/both.js';
import type { KernelHarness } from '../kernels/harness.js';
import { type CudaTwin, near, type Plain, SCHEDULES, withTwin } from './twin.js';

type P = readonly [number, number];

/** Three matrices of a shape, and two rows of as many columns. */
function operandsOf(h: KernelHarness, shape: Shape, specials: boolean) {
  const next = stream(shape.seed);
  const matrix = (index: number, isSpecial = specials): P => {
    const { at, stride } = putMatrix(h, shape, index, next, isSpecial);
    return [at, stride];
  };
  const [x, y, z] = [matrix(0), matrix(1), matrix(2, false)];
  const [row, column] = [shape.cols, shape.rows].map((n, i) => h.putF32(randomFloats(next, n), shape.skews[i]));
  return { next, x, y, z, row: row!, column: column!, sizes: [shape.rows, shape.cols] as const, acc: shape.acc };
}

/** Calls `body` with operands of 20 shapes; `run` takes the name of a kernel that both sides have. */
function forOperands(
  specials: boolean,
  body: (
    operands: ReturnType<typeof operandsOf>,
    run: (name: keyof typeof dense | 'zeroRowsF32', args: readonly number[], same?: Same) => void,
    h: KernelHarness,
  ) => void,
) {
  return withTwin((twin: CudaTwin, h) => {
    forShapes(h, SCHEDULES, (shape, begin) => {
      const operands = operandsOf(h, shape, specials);
      const all = { ...dense, zeroRowsF32 } as unknown as Record<string, Plain>;
      body(operands, (name, args, same) => twin.run(h, begin, name, all[name]!, args, same), h);
    });
  });
}

t.test(
  'elementwise kernels equal their references bit for bit, specials included',
  forOperands(true, ({ next, x, y, z, row, column, sizes, acc }, run, h) => {
    run('copyRowsF32', [...x, ...z, ...sizes, acc]);
    run('subF32', [...x, ...y, ...z, ...sizes, acc]);
    run('mulF32', [...x, ...y, ...z, ...sizes, acc]);
    run('scaleF32', [...x, ...z, ...sizes, next() - 0.5, acc]);
    run('addBiasF32', [...x, row, ...z, ...sizes]);
    run('addBiasF32', [...z, row, ...z, ...sizes]);
    run('scaleColumnsF32', [...x, row, ...z, ...sizes, acc]);
    run('scaleRowsF32', [column, 1, ...x, ...z, ...sizes, acc]);
    const scalar = h.putF32([next() < 0.3 ? 0 : next() - 0.5]);
    run('broadcastScalarF32', [scalar, ...z, ...sizes, 1.5, acc]);
    run('divideByScalarF32', [...x, scalar, ...z, ...sizes, acc]);
    run('broadcastF32', [column, 1, 0, ...z, ...sizes, 0.3, acc]);
    run('broadcastF32', [row, 0, 1, ...z, ...sizes, 0.3, acc]);
    for (let kind = 0; kind < 8; kind++) run('binaryF32', [kind, ...x, 1, ...y, 1, ...z, ...sizes]);
    run('binaryF32', [Math.floor(next() * 8), column, 1, 0, row, 0, 1, ...z, ...sizes]);
    for (const kind of [UNARY_KIND.abs, UNARY_KIND.sqrt, UNARY_KIND.sign])
      run('unaryF32', [kind, ...x, ...z, ...sizes]);
    const step = h.putI64([BigInt(Math.floor(next() * 2 ** 40))]);
    const [first, seed, drop] = [1 << 20, 2 ** 32, 2 ** 32].map((limit) => Math.floor(next() * limit));
    run('dropoutF32', [...x, ...z, ...sizes, first!, step, seed!, drop!, 1.25, acc]);
    const any = () => BigInt.asIntN(64, BigInt(Math.floor(next() * 2 ** 53)) << BigInt(Math.floor(next() * 64)));
    const ids = h.putI64(Array.from({ length: sizes[0] * sizes[1] }, any));
    run('castI64F32', [ids, sizes[1], ...z, ...sizes]);
    run('zeroRowsF32', [...z, ...sizes]);
  }),
);

t.test(
  'exp and logarithms are within three units in the last place',
  forOperands(false, ({ x, z, sizes }, run) => {
    run('unaryF32', [UNARY_KIND.exp, ...x, ...z, ...sizes], near(4e-7, 1e-44));
    run('unaryF32', [UNARY_KIND.abs, ...x, ...x, ...sizes]);
    run('unaryF32', [UNARY_KIND.log, ...x, ...z, ...sizes], near(4e-7, 1e-7));
    run('unaryF32', [UNARY_KIND.log1p, ...x, ...z, ...sizes], near(4e-7, 1e-44));
  }),
);

t.test(
  'rectifiers and gradients from results equal their references bit for bit',
  forOperands(true, ({ x, y, z, row, sizes, acc }, run) => {
    run('reluF32', [...x, ...z, ...sizes]);
    run('reluGradF32', [...x, ...y, ...z, ...sizes, acc]);
    run('sigmoidGradF32', [...x, ...y, ...z, ...sizes, acc]);
    run('tanhGradF32', [...x, ...y, ...z, ...sizes, acc]);
    run('leakyReluF32', [...x, ...z, ...sizes, 0.3]);
    run('leakyReluGradF32', [...x, ...y, ...z, ...sizes, 0.3, acc]);
    run('preluF32', [...x, row, ...z, ...sizes]);
    run('preluGradF32', [...x, ...y, row, ...z, ...sizes, acc]);
    run('reluF32', [...x, ...x, ...sizes]);
    run('biasReluF32', [...y, row, ...z, ...sizes]);
  }),
);

t.test(
  'smooth activations and their gradients are near their references',
  forOperands(false, ({ x, y, z, sizes, acc }, run) => {
    run('sigmoidF32', [...x, ...z, ...sizes], near(4e-7, 1e-44));
    run('tanhF32', [...x, ...z, ...sizes], near(4e-7, 1e-44));
    for (const name of ['geluF32', 'geluTanhF32', 'swishF32', 'softplusF32'] as const) {
      run(name, [...x, ...z, ...sizes], near(1e-6, 2e-6));
      const gradient = name.replace('F32', 'GradF32') as 'geluGradF32';
      // Slopes are right to 2^-22 or so, times a gradient below 16; what a sum cancels, its operands have lost before:
      // up to 16 * 16 * 2^-23 of a product of gradient and input.
      run(gradient, [...y, ...x, ...z, ...sizes, acc], near(2e-6, acc ? 4e-5 : 1e-5));
    }
  }),
);

t.test(
  'reductions: extremes and dot products bit for bit, sums of many within rounding',
  forOperands(false, ({ x, y, z, row, column, sizes, acc, next }, run, h) => {
    const [rows, cols] = sizes;
    // Two sums of n terms below t, in whatever order, differ by less than 2 * n * n * t * 2^-24. Values are below 16.
    const sumOf = (term: number) => near(1e-6, Math.max(1, rows) ** 2 * term * 2 ** -23);
    run('rowDotF32', [...x, ...y, column, 1, ...sizes, acc]);
    run('maxColumnsF32', [...x, ...sizes, column, 1]);
    run('maxRowsF32', [...x, row, ...sizes]);
    run('sumRowsF32', [...x, row, ...sizes, acc], sumOf(16));
    run('preluSlopeGradF32', [...x, ...y, row, ...sizes], sumOf(16 * 16));
    const stats = h.putF32(Float32Array.from({ length: rows * 2 }, () => next() * 2 - 1));
    // A gradient, a distance from the mean, and a factor of at most 1.
    run('layerNormGainGradF32', [...x, ...y, stats, row, ...sizes], sumOf(16 * 17));
    // Sums in f64, rounded once: the same float, or the one beside it when the sum is halfway between the two.
    run('sumColumnsF32', [...x, ...sizes, column, 1, 0.5], near(2 ** -23, 1e-12));
    run('sumF32', [...x, ...sizes, h.putF32([7]), 0.5], near(2 ** -23, 1e-12));
    // Whole numbers, whose sums are exact: then every order gives the same bits.
    const isWhole = (at: number, count: number) => {
      for (let i = 0; i < count; i++) h.views.f32[at / 4 + i] = Math.floor(next() * 64) - 32;
    };
    for (const [at, stride] of [x, y]) isWhole(at, rows * stride);
    isWhole(stats, rows * 2);
    isWhole(row, cols);
    run('sumRowsF32', [...x, row, ...sizes, acc]);
    run('preluSlopeGradF32', [...x, ...y, row, ...sizes]);
    run('layerNormGainGradF32', [...x, ...y, stats, row, ...sizes]);
    run('sumColumnsF32', [...x, ...sizes, column, 1, 0.5]);
    run('sumF32', [...x, ...sizes, h.putF32([7]), 0.5]);
    run('copyRowsF32', [...x, ...z, ...sizes, 0]);
    run('reduceSlicesF32', [x[0], x[1], rows, row, cols]);
  }),
);
