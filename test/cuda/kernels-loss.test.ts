/** @file CUDA kernels of losses and of the factorization machine, in the simulator, against their references. */
import fc from 'fast-check';
import t from 'tap';
import * as dense from '../../src/runtime/backends/reference/dense.js';
import { forShapes, identical, putMatrix, randomFloats, type Same, stream } from '../kernels/both.js';
import { near, type Plain, SCHEDULES, withTwin } from './twin.js';

const references = dense as unknown as Record<string, Plain>;
type P = readonly [number, number];

const batches = fc.record({
  rows: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constant(700)),
  strides: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 4, maxLength: 4 }),
  factors: fc.tuple(fc.constantFrom(0, 0.5, 2, 3.5), fc.double({ min: 0, max: 3 }), fc.double({ min: 0, max: 3 })),
  soft: fc.boolean(),
  acc: fc.integer({ min: 0, max: 1 }),
  seed: fc.integer(),
});

t.test('losses of a logit and their gradients are near their references, hinge is equal', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(batches, ({ rows, strides, factors, soft, acc, seed }) =>
        h.scope(() => {
          const next = stream(seed);
          const begin = h.arena.mark();
          const column = (index: number, value: () => number): P => [
            h.putF32(Float32Array.from({ length: rows * strides[index]! }, value)),
            strides[index]!,
          ];
          const x = column(0, () => (next() - 0.5) * 40);
          const label = column(1, () => (soft ? next() : Math.round(next())));
          const [out, dy] = [column(2, next), column(3, next)];
          const [gamma, positive, negative] = factors;
          const same = near(3e-6, 1e-5);
          const run = (name: string, args: readonly number[], as: Same) =>
            twin.run(h, begin, name, references[name]!, args, as);
          run('bceLogitsF32', [...x, ...label, ...out, rows], near(4e-7, 4e-6));
          run('bceLogitsGradF32', [...x, ...label, ...dy, ...out, rows, acc], near(4e-7, 4e-7));
          run('weightedBceF32', [...x, ...label, ...out, rows, positive, negative], same);
          run('weightedBceGradF32', [...x, ...label, ...dy, ...out, rows, positive, negative, acc], same);
          run('hingeF32', [...x, ...label, ...out, rows], identical);
          run('hingeGradF32', [...x, ...label, ...dy, ...out, rows, acc], identical);
          run('focalF32', [...x, ...label, ...out, rows, gamma, positive, negative], same);
          run('focalGradF32', [...x, ...label, ...dy, ...out, rows, gamma, positive, negative, acc], same);
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);

t.test('softmax cross entropy and its gradient are near their references', (t) =>
  withTwin((twin, h) => {
    forShapes(h, SCHEDULES, (shape, begin) => {
      const next = stream(shape.seed);
      const { rows, acc, pads } = shape;
      const cols = shape.cols + 1;
      const x = putMatrix(h, { ...shape, cols }, 0, next);
      const dx = putMatrix(h, { ...shape, cols }, 1, next);
      const index = shape.seed % 2 === 0 ? 1 : 0;
      const labelStride = (index ? 1 : cols) + pads[2]!;
      const value = () => (index ? Math.floor(next() * (cols + 1)) - (next() < 0.1 ? 0.5 : 0) : next());
      const label = h.putF32(Float32Array.from({ length: rows * labelStride }, value), shape.skews[2]);
      const out = h.putF32(randomFloats(next, rows * 2), shape.skews[3]);
      // Labels of a row add up to half its width: so much is the scale of what is subtracted.
      const same = near(3e-6, 1e-6 * (4 + cols));
      const head = [x.at, x.stride, label, labelStride, out, 2] as const;
      twin.run(h, begin, 'softmaxLossF32', references.softmaxLossF32!, [...head, rows, cols, index], same);
      const grads = [...head, dx.at, dx.stride, rows, cols, index, acc];
      // What comes in is up to 16: eight roundings of half the width times that, at the worst.
      const scaled = near(3e-6, 16 * (4 + cols / 2) * 8 * 2 ** -24);
      twin.run(h, begin, 'softmaxLossGradF32', references.softmaxLossGradF32!, grads, scaled);
    });
  })(t),
);

t.test('the pairs of a factorization machine equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    const sizes = fc.record({
      rows: fc.integer({ min: 0, max: 21 }),
      fields: fc.integer({ min: 0, max: 9 }),
      dim: fc.oneof(fc.integer({ min: 1, max: 19 }), fc.constantFrom(4, 16, 32, 64)),
      acc: fc.integer({ min: 0, max: 1 }),
      seed: fc.integer(),
    });
    fc.assert(
      fc.property(sizes, ({ rows, fields, dim, acc, seed }) =>
        h.scope(() => {
          const next = stream(seed);
          const begin = h.arena.mark();
          const stride = fields * dim + (seed & 3);
          const [x, dx] = [0, 1].map(() => h.putF32(randomFloats(next, rows * stride)));
          const out = h.putF32(randomFloats(next, rows * 2));
          const sizes = [rows, fields, dim, acc] as const;
          twin.run(h, begin, 'fmPairsF32', references.fmPairsF32!, [x!, stride, out, 2, ...sizes]);
          const args = [out, 2, x!, stride, dx!, stride, ...sizes];
          twin.run(h, begin, 'fmPairsGradF32', references.fmPairsGradF32!, args);
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);
