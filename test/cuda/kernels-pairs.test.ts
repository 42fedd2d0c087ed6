/**
 * @file CUDA kernels over pairs of fields, pairs of examples and the largest of groups, in the simulator, against their
 * references.
 */
import fc from 'fast-check';
import t from 'tap';
import * as dense from '../../src/runtime/backends/reference/dense.js';
import { randomFloats, stream } from '../kernels/both.js';
import { near, type Plain, SCHEDULES, withTwin } from './twin.js';

const references = dense as unknown as Record<string, Plain>;
type P = readonly [number, number];

const fields = fc.record({
  rows: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 0, max: 9 }) }, fc.constantFrom(256, 257, 520)),
  lefts: fc.integer({ min: 0, max: 5 }),
  rights: fc.integer({ min: 1, max: 4 }),
  dim: fc.constantFrom(1, 3, 4, 8, 17),
  outs: fc.constantFrom(1, 3, 4, 8),
  pad: fc.integer({ min: 0, max: 3 }),
  acc: fc.integer({ min: 0, max: 3 }),
  seed: fc.integer(),
});

t.test('the interaction of fields and its gradients equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(fields, ({ rows, lefts, rights, dim, outs, pad, acc, seed }) =>
        h.scope(() => {
          const next = stream(seed);
          const scratch = h.alloc(((2 * lefts * rights + outs) * dim + lefts * rights * outs) * 4);
          const begin = h.arena.mark();
          const matrix = (cols: number): P => [h.putF32(randomFloats(next, rows * (cols + pad))), cols + pad];
          const [left, right, out] = [matrix(lefts * dim), matrix(rights * dim), matrix(outs * dim)];
          const w = h.putF32(randomFloats(next, lefts * rights * outs), pad * 4);
          const sizes = [rows, lefts, rights, dim, outs] as const;
          const forward = [...left, ...right, w, ...out, ...sizes] as const;
          // A device does without the scratch, which lies outside of what is compared.
          twin.run(h, begin, 'cinF32', references.cinF32!, [...forward, scratch, acc & 1], undefined, [
            ...forward,
            0,
            acc & 1,
          ]);
          const [dLeft, dRight] = [matrix(lefts * dim), matrix(rights * dim)];
          const dw = h.putF32(randomFloats(next, lefts * rights * outs));
          const same = lefts === rights && acc === 3;
          const sides = [...dLeft, acc & 1, ...(same ? dLeft : dRight), same ? 1 : acc >> 1] as const;
          const backward = [...out, ...left, ...right, w, ...sides, dw, ...sizes] as const;
          const operands = [...backward, 0];
          twin.run(h, begin, 'cinGradF32', references.cinGradF32!, [...backward, scratch], undefined, operands);
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);

const groups = fc.record({
  rows: fc.integer({ min: 0, max: 9 }),
  groups: fc.integer({ min: 1, max: 4 }),
  width: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(32, 33, 100)),
  pad: fc.integer({ min: 0, max: 3 }),
  acc: fc.integer({ min: 0, max: 1 }),
  seed: fc.integer(),
});

t.test('the largest of groups and their gradient equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(groups, ({ rows, groups, width, pad, acc, seed }) =>
        h.scope(() => {
          const next = stream(seed);
          const begin = h.arena.mark();
          const k = 1 + Math.floor(next() * Math.min(width, 7));
          const matrix = (cols: number, values: () => Float32Array): P => [h.putF32(values()), cols + pad];
          const floats = (cols: number) => () => randomFloats(next, rows * (cols + pad));
          // Ties, zeros of both signs among them, go to the earlier place.
          const [wide, narrow] = [groups * width, groups * k];
          const tied = () =>
            floats(wide)().map((x) => (next() < 0.5 ? ([0, -0, 2, -2][Math.floor(next() * 4)] ?? x) : x));
          const [x, dx] = [matrix(wide, tied), matrix(wide, floats(wide))];
          const [values, places] = [matrix(narrow, floats(narrow)), matrix(narrow, floats(narrow))];
          const sizes = [rows, groups, width, k] as const;
          twin.run(h, begin, 'topKF32', references.topKF32!, [...x, ...values, ...places, ...sizes]);
          twin.run(h, begin, 'topKGradF32', references.topKGradF32!, [...values, ...places, ...dx, ...sizes, acc]);
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);

t.test('the loss over pairs of examples and its gradient are near their references', (t) =>
  withTwin((twin, h) => {
    const batches = fc.record({
      total: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(600)),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      stride: fc.integer({ min: 1, max: 3 }),
      acc: fc.integer({ min: 0, max: 1 }),
      seed: fc.integer(),
    });
    fc.assert(
      fc.property(batches, ({ total, part, stride, acc, seed }) =>
        h.scope(() => {
          const next = stream(seed);
          const begin = h.arena.mark();
          const label = () => [1, 0, -1, -10001, 0.5][Math.floor(next() * 5)]!;
          const labels = h.putF32(Float32Array.from({ length: total }, label));
          const logits = h.putF32(Float32Array.from({ length: total }, () => (next() - 0.5) * 200 ** next()));
          const first = Math.floor(part * total);
          const slice = [labels, logits, total, first, total - first] as const;
          const [out, grad] = [h.putF32([1]), h.putF32([0.7])];
          const dst = h.putF32(randomFloats(next, total * stride));
          // exp and log1p are two units off at most, for terms of one sign which are added in f64.
          twin.run(h, begin, 'inbatchAucF32', references.inbatchAucF32!, [...slice, out], near(1e-6, 1e-6));
          const args = [...slice, grad, 0.3, dst, stride, acc];
          // What is there already is at most 16, and its sum with the gradient is rounded.
          twin.run(h, begin, 'inbatchAucGradF32', references.inbatchAucGradF32!, args, near(1e-6, 2e-5));
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);
