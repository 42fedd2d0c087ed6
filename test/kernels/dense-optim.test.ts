import fc from 'fast-check';
import t from 'tap';
import type { Views } from '../../src/memory/views.js';
import * as reference from '../../src/runtime/backends/reference/optim.js';
import type { OptimKernels } from '../../src/runtime/backends/wasm/calls/optim.js';
import { randomFloats, stream } from './both.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';

type Twins = { readonly [K in keyof OptimKernels]: (m: Views, ...args: Parameters<OptimKernels[K]>) => unknown };
const twins: Twins = reference;
const h = await KernelHarness.create(16 << 20);
const run = (begin: number, name: keyof OptimKernels, args: readonly number[]) =>
  runPair(h, begin, h.wasm[name], twins[name], args);

const inputs = fc.record({
  n: fc.oneof(fc.integer({ min: 0, max: 67 }), fc.constantFrom(1023, 1024, 2050)),
  skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 5, maxLength: 5 }),
  flags: fc.integer({ min: 0, max: 3 }),
  seed: fc.integer(),
});

t.test('steps of dense optimizers equal their references bit for bit', async () => {
  fc.assert(
    fc.property(inputs, ({ n, skews, flags, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const begin = h.arena.mark();
        const put = (i: number, positive = false) =>
          h.putF32(positive ? randomFloats(next, n).map(Math.abs) : randomFloats(next, n), skews[i]);
        const [w, m, v, c, g] = [put(0), put(1), put(2, true), put(3, true), put(4)];
        const powers = h.putF32([0.9 ** 3, 0.99 ** 3]);
        const rates = [0.1, 0.9, 0.99, 1e-3, 0.01];
        run(begin, 'applyAdamomF32', [w, m, v, c, g, n, ...rates, flags & 1, flags >> 1]);
        run(begin, 'applyDenseRmspropF32', [w, m, v, g, n, ...rates, flags & 1]);
        run(begin, 'applyDenseMomentumF32', [w, m, g, n, 0.1, 0.9, flags & 1]);
        run(begin, 'applyDenseAdamF32', [w, m, v, g, n, 0.1, powers, powers + 4, 0.9, 0.99, 0.01, 1e-8, flags & 1]);
      }),
    ),
    { numRuns: 60 },
  );
});

t.test('clipping and its sums equal their references bit for bit', async () => {
  fc.assert(
    fc.property(inputs, ({ n, skews, flags, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const begin = h.arena.mark();
        const src = h.putF32(randomFloats(next, n, true), skews[0]);
        const dst = h.alloc(n * 4, skews[1]);
        const [sum, norm] = [h.alloc(8), h.putF32([3])];
        run(begin, 'clipValueF32', [src, dst, n, -0.25, 0.5]);
        const sums = h.alloc(n * 8);
        h.views.f64.set(randomFloats(next, n), sums / 8);
        run(begin, 'sumF64', [sums, n, sum]);
        const [cols, rows] = [n % 13, Math.floor(n / 16)];
        run(begin, 'rowSquaresF64', [src, 16, rows, cols, sum]);
        run(begin, 'clipRowsToNormF32', [src, 16, norm, dst, 15, rows, cols, 0.5 + 4 * (flags & 1)]);
      }),
    ),
    { numRuns: 60 },
  );
});

t.test('a norm that is no number clips nothing, an infinite one gives NaN where it came from', async (t) => {
  const clip = (norm: number) =>
    h.scope(() => {
      const [src, dst, at] = [h.putF32([Number.POSITIVE_INFINITY, 2]), h.alloc(8), h.putF32([norm])];
      h.wasm.clipRowsToNormF32(src, 2, at, dst, 2, 1, 2, 1);
      return [...h.f32(dst, 2)];
    });
  t.same(clip(Number.NaN), [Number.POSITIVE_INFINITY, 2]);
  t.same(clip(Number.POSITIVE_INFINITY), [Number.NaN, 0]);
  t.same(clip(4), [Number.POSITIVE_INFINITY, 0.5]);
  t.same(clip(1), [Number.POSITIVE_INFINITY, 2]);
});

/** A symmetric matrix: full, of rank 1, diagonal, zero, or made of blocks, by `kind`. */
function symmetric(k: number, kind: number, next: () => number): number[] {
  const half = Array.from({ length: k * k }, () => next() - 0.5);
  const at = (i: number, j: number) => half[i * k + j]!;
  return half.map((_, index) => {
    const [i, j] = [Math.floor(index / k), index % k];
    if (kind === 0) return at(i, j) + at(j, i);
    if (kind === 1) return at(0, i) * at(0, j);
    if (kind === 2) return i === j ? Math.round(at(i, i) * 4) : 0;
    if (kind === 3) return 0;
    return i >> 1 === j >> 1 ? at(i, j) + at(j, i) : 0;
  });
}

t.test('eigenvectors turn a symmetric matrix into its eigenvalues', async () => {
  const matrices = fc.record({ k: fc.integer({ min: 1, max: 24 }), kind: fc.nat(4), seed: fc.integer() });
  fc.assert(
    fc.property(matrices, ({ k, kind, seed }) =>
      h.scope(() => {
        const matrix = symmetric(k, kind, stream(seed));
        const begin = h.arena.mark();
        const [a, values, vectors, scratch] = [k * k, k, k * k, 3 * k].map((n) => h.alloc(n * 8)) as [
          number,
          number,
          number,
          number,
        ];
        h.views.f64.set(matrix, a / 8);
        if (run(begin, 'symmetricEigenF64', [a, k, values, vectors, scratch]) !== 0) return false;
        const lambda = h.views.f64.slice(values / 8, values / 8 + k);
        const v = h.views.f64.slice(vectors / 8, vectors / 8 + k * k);
        const scale = 1 + Math.max(...matrix.map(Math.abs));
        for (let row = 0; row < k; row++) {
          if (row > 0 && lambda[row]! < lambda[row - 1]!) return false;
          for (let i = 0; i < k; i++) {
            let [turned, product] = [0, 0];
            for (let j = 0; j < k; j++) {
              turned += matrix[i * k + j]! * v[row * k + j]!;
              product += v[row * k + j]! * v[i * k + j]!;
            }
            if (Math.abs(turned - lambda[row]! * v[row * k + i]!) > 1e-13 * k * scale) return false;
            if (Math.abs(product - (i === row ? 1 : 0)) > 1e-13 * k) return false;
          }
        }
        return true;
      }),
    ),
    { numRuns: 150 },
  );
});

t.test('a matrix of equal columns has eigenvalues: what reflections leave of it shrinks to nothing', async (t) => {
  for (const [k, distinct] of [
    [40, 2],
    [64, 4],
    [101, 1],
    [101, 3],
    [101, 5],
  ] as const) {
    const next = stream(k + distinct);
    const half = Array.from({ length: 4 }, () => Array.from({ length: distinct }, () => next() - 0.5));
    const kindOf = (i: number) => Math.floor((i * distinct) / k);
    const at = (i: number, j: number) =>
      Math.fround(0.01 * half.reduce((sum, row) => sum + row[kindOf(i)]! * row[kindOf(j)]!, 0));
    const matrix = Float64Array.from({ length: k * k }, (_, place) => at(Math.floor(place / k), place % k));
    h.scope(() => {
      const begin = h.arena.mark();
      const [a, values, scratch] = [k * k, k, k * k + 3 * k].map((n) => h.alloc(n * 8)) as [number, number, number];
      h.views.f64.set(matrix, a / 8);
      t.equal(run(begin, 'symmetricEigenF64', [a, k, values, scratch, scratch + k * k * 8]), 0);
      const lambda = h.views.f64.slice(values / 8, values / 8 + k);
      const trace = matrix.reduce((sum, value, place) => (place % (k + 1) === 0 ? sum + value : sum), 0);
      t.ok(Math.abs(lambda.reduce((sum, value) => sum + value, 0) - trace) < 1e-12, 'they add up to the trace');
      const others = lambda.filter((value) => Math.abs(value) > 1e-13 * trace).length;
      t.ok(others <= distinct, 'all but as many as there are columns are zero');
    });
  }
});

t.test('a matrix that is not finite has no eigenvalues', async (t) => {
  h.scope(() => {
    const begin = h.arena.mark();
    const [a, values, vectors, scratch] = [9, 3, 9, 9].map((n) => h.alloc(n * 8)) as [number, number, number, number];
    h.views.f64.set([1, Number.NaN, 0, Number.NaN, 1, 0, 0, 0, 1], a / 8);
    t.equal(run(begin, 'symmetricEigenF64', [a, 3, values, vectors, scratch]), -1);
    t.same([...h.views.f64.slice(values / 8, values / 8 + 3)], [Number.NaN, Number.NaN, Number.NaN]);
  });
});
