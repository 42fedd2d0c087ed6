/** @file CUDA kernels of norms and clips, in the simulator, against their references. */
import t from 'tap';
import * as dense from '../../src/runtime/backends/reference/dense.js';
import * as optim from '../../src/runtime/backends/reference/optim.js';
import { forShapes, putMatrix, randomFloats, stream } from '../kernels/both.js';
import { type Plain, SCHEDULES, withTwin } from './twin.js';

const references = { ...dense, ...optim } as unknown as Record<string, Plain>;

/** Whole numbers, so that their squares and the sums of them are exact in f64: in any order they have the same bits. */
const whole = (next: () => number, count: number) =>
  Float32Array.from({ length: count }, () => Math.floor(next() * 64) - 32);

t.test('norms of many floats in f64, and clips by them, equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const next = stream(i + 1);
        const begin = h.arena.mark();
        const run = (name: string, args: readonly number[]) => twin.run(h, begin, name, references[name]!, args);
        const [count, grain] = [Math.floor(next() * 3000), [256, 100, 1024][i % 3]!];
        const src = h.putF32(whole(next, count), (i % 4) * 4);
        const parts = Math.ceil(count / grain);
        const sums = h.putI64(new BigInt64Array(parts + 1));
        const norm = h.putF32([0]);
        run('sumSquaresF64', [src, count, grain, sums]);
        run('sumF64', [sums, parts, sums + parts * 8]);
        run('rootOfSumF32', [sums, parts, norm]);
        const out = h.putF32(randomFloats(next, count), (i % 3) * 4);
        const limit = next() < 0.5 ? 1 : 1e6;
        run('clipToNormF32', [src, norm, out, count, limit]);
        run('clipValueF32', [h.putF32(randomFloats(next, count, true), (i % 2) * 8), out, count, -0.25, 0.5]);
      });
    }
  })(t),
);

t.test('the squares of a matrix and clips of its rows equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    forShapes(h, SCHEDULES, (shape, begin) => {
      const next = stream(shape.seed);
      const [x, y] = [putMatrix(h, shape, 0, next, true), putMatrix(h, shape, 1, next)];
      const { rows, cols, pads, skews } = shape;
      const run = (name: string, args: readonly number[]) => twin.run(h, begin, name, references[name]!, args);
      for (const size of [0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        run('clipRowsToNormF32', [x.at, x.stride, h.putF32([size]), y.at, y.stride, rows, cols, 0.3]);
      }
      // Many more elements than there are chunks, in the larger shapes.
      const wide = cols + pads[2]!;
      const exact = h.putF32(whole(next, rows * wide), skews[2]);
      run('rowSquaresF64', [exact, wide, rows, cols, h.putI64([1n])]);
    });
  })(t),
);
