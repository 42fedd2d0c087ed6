/** @file CUDA kernels over parts of rows and norms of rows, in the simulator, against their references. */
import fc from 'fast-check';
import t from 'tap';
import * as dense from '../../src/runtime/backends/reference/dense.js';
import { forShapes, putMatrix, randomFloats, type Same, stream } from '../kernels/both.js';
import { near, type Plain, SCHEDULES, withTwin } from './twin.js';

const references = dense as unknown as Record<string, Plain>;

const sizes = fc.record({
  rows: fc.integer({ min: 0, max: 12 }),
  outer: fc.integer({ min: 1, max: 3 }),
  n: fc.oneof(fc.integer({ min: 1, max: 7 }), fc.constant(40)),
  inner: fc.constantFrom(1, 1, 2, 5, 8),
  pad: fc.integer({ min: 0, max: 3 }),
  acc: fc.integer({ min: 0, max: 1 }),
  seed: fc.integer(),
});

t.test('parts of rows equal their references bit for bit, softmax is near', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(sizes, ({ rows, outer, n, inner, pad, acc, seed }) =>
        h.scope(() => {
          const next = stream(seed);
          const begin = h.arena.mark();
          const wide = outer * n * inner + pad;
          // Ties are wanted, for the gradient of the largest.
          const values = () => randomFloats(next, rows * wide).map((x) => (next() < 0.3 ? 2 : x));
          const [x, y, z] = [0, 1, 2].map(() => h.putF32(values())) as [number, number, number];
          const shape = [rows, outer, n, inner] as const;
          const run = (name: string, args: readonly number[], same?: Same) =>
            twin.run(h, begin, name, references[name]!, args, same);
          run('transposeInnerF32', [x, wide, z, wide, ...shape, acc]);
          const count = Math.min(n, 3);
          const indices = h.putI32(Array.from({ length: count }, () => Math.floor(next() * n)));
          run('gatherInnerF32', [x, wide, z, wide, ...shape, indices, count, acc]);
          run('scatterInnerF32', [x, wide, z, wide, ...shape, indices, count, acc]);
          run('sumInnerF32', [x, wide, z, wide, ...shape, 0.7, acc]);
          run('broadcastInnerF32', [x, wide, z, wide, ...shape, 0.7, acc]);
          run('maxInnerF32', [x, wide, y, wide, ...shape, 0]);
          run('maxInnerGradF32', [x, wide, x, wide, y, wide, z, wide, ...shape, acc]);
          const width = n * inner;
          run('copyBlocksF32', [x, wide, width, z, wide, width, rows, outer, Math.max(1, width - 1), acc]);
          const shared = h.putF32(randomFloats(next, n));
          run('addSharedF32', [x, wide, shared, z, wide, rows, outer * n, n, acc]);
          run('mulSharedF32', [x, wide, shared, z, wide, rows, outer * n, n, acc]);
          run('sumSharedF32', [x, wide, seed % 2 ? y : 0, wide, shared, rows, outer * n, n]);
          // [n, inner] times [inner, n], and by whole rows of both: dot products of neighbours.
          const product = h.putF32(randomFloats(next, rows * outer * n * n));
          for (const right of [
            [n, 1],
            [1, inner],
          ]) {
            const steps = [width, inner, 1, width, ...right, n * n, n];
            const layout = h.putI32([outer, n, n, inner, ...steps]);
            run('batchMatMulF32', [x, wide, y, wide, product, outer * n * n, rows, layout, acc]);
          }
          const groups = [rows, outer, width] as const;
          run('scaleGroupsF32', [y, wide, x, wide, z, wide, ...groups, acc]);
          run('groupDotF32', [x, wide, y, wide, z, wide, ...groups, acc]);
          run('softmaxGradF32', [x, wide, y, wide, z, wide, ...groups, acc]);
          const mask = h.putF32(Float32Array.from({ length: rows * wide }, () => Math.round(next())));
          run('softmaxF32', [x, wide, seed % 2 ? mask : 0, wide, width, z, wide, ...groups], near(2e-6, 1e-30));
          const pairs = h.putF32(randomFloats(next, rows * outer * outer * n));
          run('pairProductsF32', [x, wide, y, wide, pairs, outer * outer * n, rows, outer, outer, n, acc]);
          const grad = [pairs, outer * outer * n, y, wide, z, wide, rows, outer, outer, n] as const;
          run('pairProductsGradF32', [...grad, outer, 1, acc]);
          run('pairProductsGradF32', [...grad, 1, outer, acc]);
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);

t.test('norms of rows are near their references', (t) =>
  withTwin((twin, h) => {
    forShapes(h, SCHEDULES, (shape, begin) => {
      const next = stream(shape.seed);
      const cols = shape.cols + 1;
      const [x, y, dy] = [0, 1, 2].map((index) => putMatrix(h, { ...shape, cols }, index, next));
      const [X, Y, G] = [x!, y!, dy!].map(({ at, stride }) => [at, stride] as const) as [P, P, P];
      const [gain, bias] = [0, 1].map((index) => h.putF32(randomFloats(next, cols), shape.skews[index]));
      const small = (at: number, count: number) => {
        for (let i = 0; i < count; i++) h.views.f32[at / 4 + i] = next() * 2 - 1;
      };
      for (const [at, stride] of [X, Y, G]) small(at, shape.rows * stride);
      for (const at of [gain!, bias!]) small(at, cols);
      const stats = h.putF32(new Float32Array(shape.rows * 2));
      const size = [shape.rows, cols] as const;
      const run = (name: string, args: readonly number[], same: Same) =>
        twin.run(h, begin, name, references[name]!, args, same);
      // Sums in f64 round to the float of the reference or to one next to it, 2^-24 apart for values up to 1. One over
      // the deviation is at most 1 / sqrt(1e-3), below 32, and what is normalized at most sqrt(300), below 18:
      // layerNormF32 carries on 32 * 2^-24 and 18 * 2^-23, its gradient 32 * (1 + 18) * 2^-24, that of the length 18 *
      // 32 * 2^-23.
      run('layerNormF32', [...X, gain!, bias!, ...Y, stats, ...size, 1e-3], near(1e-6, 5e-6));
      run('layerNormGradF32', [...G, ...X, gain!, stats, ...Y, ...size, shape.acc], near(1e-6, 4e-5));
      run('l2NormalizeF32', [...X, ...Y, ...size, 1e-3], near(3e-7, 1e-9));
      run('l2NormalizeGradF32', [...G, ...X, ...Y, ...size, 1e-3, shape.acc], near(1e-6, 7e-5));
    });
  })(t),
);
type P = readonly [number, number];
