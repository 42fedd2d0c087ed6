import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { Views } from '../../src/memory/views.js';
import * as reference from '../../src/runtime/backends/reference/sparse.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create(16 << 20);

const float = fc.float({ noDefaultInfinity: true, noNaN: true, min: -1e6, max: 1e6 });
const dim = fc.oneof(fc.constantFrom(1, 4, 16, 17, 32, 33, 64), fc.integer({ min: 1, max: 100 }));
const bags = fc.record({
  dim,
  first: fc.integer({ min: 0, max: 9 }),
  lengths: fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 12 }),
  unique: fc.integer({ min: 1, max: 9 }),
  slack: fc.integer({ min: 0, max: 3 }),
  skew: fc.constantFrom(0, 4, 8, 12),
  picks: fc.infiniteStream(fc.nat()),
  floats: fc.array(float, { minLength: 1, maxLength: 50 }),
});

type Bags = typeof bags extends fc.Arbitrary<infer T> ? T : never;

/** Lays a batch of bags out: unique rows at odd places, their pointers, inverse, splits, gradients. */
function layOut(b: Bags) {
  const splits = [b.first];
  for (const length of b.lengths) splits.push(splits.at(-1)! + length);
  const count = splits.at(-1)! - b.first;
  const inverse = Array.from({ length: count }, () => b.picks.next().value % b.unique);
  const fill = (n: number) =>
    Array.from({ length: n }, (_, i) => Math.fround(b.floats[i % b.floats.length]! * (1 + i / 7)));
  const stride = b.dim + b.slack;
  const weights = h.putF32(fill(b.unique * stride), b.skew);
  return {
    rows: b.lengths.length,
    stride,
    rowPtrs: h.putI32(Array.from({ length: b.unique }, (_, u) => weights + u * stride * 4)),
    inverse: h.putI32(inverse),
    splits: h.putI32(splits),
    grad: h.putF32(fill(b.lengths.length * stride), b.skew),
    start: fill(b.unique * stride),
  };
}

/** Bits of what `run` leaves in a block of `count` floats that starts as `start`. */
function bits(count: number, start: readonly number[], skew: number, run: (out: number) => void): number[] {
  const out = h.putF32(start.length === count ? start : new Array(count).fill(-7), skew);
  run(out);
  return [...h.i32(out, count)];
}

for (const [name, wasm, plain] of [
  ['poolSumF32', h.wasm.poolSumF32, reference.poolSumF32],
  ['poolMeanF32', h.wasm.poolMeanF32, reference.poolMeanF32],
] as const) {
  t.test(`${name} gives the bits of the reference for any bags, dimensions and alignments`, async () => {
    fc.assert(
      fc.property(bags, (b) =>
        h.scope(() => {
          const { rows, stride, rowPtrs, inverse, splits } = layOut(b);
          const call = (run: (out: number) => void) => bits(rows * stride, [], b.skew, run);
          const got = call((out) => wasm(rowPtrs, inverse, splits, rows, b.dim, out, stride));
          const want = call((out) => plain(h.views, rowPtrs, inverse, splits, rows, b.dim, out, stride));
          assert.deepEqual(got, want);
        }),
      ),
      { numRuns: 80 },
    );
  });
}

for (const [name, wasm, plain] of [
  ['scatterAddF32', h.wasm.scatterAddF32, reference.scatterAddF32],
  ['scatterMeanF32', h.wasm.scatterMeanF32, reference.scatterMeanF32],
] as const) {
  t.test(`${name} adds to the same rows in the same order as the reference`, async () => {
    fc.assert(
      fc.property(bags, (b) =>
        h.scope(() => {
          const { rows, stride, grad, inverse, splits, start } = layOut(b);
          const call = (run: (out: number) => void) => bits(b.unique * stride, start, b.skew, run);
          const got = call((out) => wasm(grad, stride, inverse, splits, rows, b.dim, out, stride, 0));
          const want = call((out) => plain(h.views, grad, stride, inverse, splits, rows, b.dim, out, stride, 0));
          assert.deepEqual(got, want);
        }),
      ),
      { numRuns: 80 },
    );
  });
}

t.test('pooling sums, averages and leaves empty rows zero', async (t) => {
  h.scope(() => {
    const weights = h.putF32([1, 2, 10, 20]);
    const rowPtrs = h.putI32([weights, weights + 8]);
    const inverse = h.putI32([0, 1, 1]);
    const splits = h.putI32([5, 7, 7, 8]);
    const out = h.putF32(new Array(6).fill(9));
    h.wasm.poolSumF32(rowPtrs, inverse, splits, 3, 2, out, 2);
    t.same([...h.f32(out, 6)], [11, 22, 0, 0, 10, 20]);
    h.wasm.poolMeanF32(rowPtrs, inverse, splits, 3, 2, out, 2);
    t.same([...h.f32(out, 6)], [5.5, 11, 0, 0, 10, 20]);
    const ugrad = h.putF32([100, 100, 0, 0]);
    h.wasm.scatterAddF32(out, 2, inverse, splits, 3, 2, ugrad, 2, 0);
    t.same([...h.f32(ugrad, 4)], [105.5, 111, 15.5, 31]);
  });
});

t.test('scattering is the transpose of pooling', async () => {
  fc.assert(
    fc.property(bags, (b) =>
      h.scope(() => {
        // Whole numbers are exact in f32, so <pool(w), g> = <w, scatter(g)> holds without a tolerance.
        const whole = { ...b, floats: b.floats.map((x) => Math.round(x) % 5), slack: 0, dim: Math.min(b.dim, 9) };
        const { rows, stride, rowPtrs, inverse, splits } = layOut(whole);
        const ints = (n: number, k: number) => Array.from({ length: n }, (_, i) => ((i * k) % 7) - 3);
        const weights = h.views.u32[rowPtrs / 4]!;
        h.views.f32.set(ints(b.unique * stride, 5), weights / 4);
        const gradient = h.putF32(ints(rows * stride, 3));
        const pooled = h.alloc(rows * stride * 4);
        const ugrad = h.alloc(b.unique * stride * 4);
        h.wasm.poolSumF32(rowPtrs, inverse, splits, rows, stride, pooled, stride);
        h.wasm.scatterAddF32(gradient, stride, inverse, splits, rows, stride, ugrad, stride, 0);
        const dot = (a: number, c: number, n: number) =>
          h.f32(a, n).reduce((sum, x, i) => sum + x * h.views.f32[c / 4 + i]!, 0);
        assert.equal(dot(pooled, gradient, rows * stride), dot(weights, ugrad, b.unique * stride));
      }),
    ),
    { numRuns: 40 },
  );
});

t.test('rows are gathered, added and zeroed as in the reference', async () => {
  const rows = fc.record({ dim, n: fc.integer({ min: 0, max: 12 }), picks: fc.infiniteStream(fc.nat()) });
  type Call = (m: Views | undefined, out: number) => void;
  fc.assert(
    fc.property(rows, fc.constantFrom(0, 1, 3), fc.array(float, { minLength: 1 }), (c, slack, floats) =>
      h.scope(() => {
        const stride = c.dim + slack;
        const source = Array.from({ length: 8 * stride }, (_, i) => floats[i % floats.length]! + i);
        const src = h.putF32(source, 4);
        const rowPtrs = h.putI32(Array.from({ length: c.n }, () => src + (c.picks.next().value % 8) * stride * 4));
        const calls: Call[] = [
          (m, out) =>
            m
              ? reference.gatherRowsF32(m, rowPtrs, c.n, c.dim, out, stride)
              : h.wasm.gatherRowsF32(rowPtrs, c.n, c.dim, out, stride),
          (m, out) =>
            m ? reference.zeroRowsF32(m, out, stride, c.n, c.dim) : h.wasm.zeroRowsF32(out, stride, c.n, c.dim),
          (m, out) => (m ? reference.addRowF32(m, src, out, c.dim) : h.wasm.addRowF32(src, out, c.dim)),
        ];
        for (const call of calls) {
          const got = bits(12 * stride, [], 8, (out) => call(undefined, out));
          const want = bits(12 * stride, [], 8, (out) => call(h.views, out));
          assert.deepEqual(got, want);
        }
      }),
    ),
    { numRuns: 40 },
  );
});
