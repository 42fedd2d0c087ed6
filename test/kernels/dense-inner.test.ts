import fc from 'fast-check';
import t from 'tap';
import type { DenseKernels } from '../../src/runtime/backends/wasm/calls/dense.js';
import { randomFloats, runBoth, type Same, stream, within } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

interface Case {
  readonly rows: number;
  readonly outer: number;
  readonly n: number;
  readonly inner: number;
  readonly pad: number;
  readonly acc: number;
  readonly next: () => number;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    rows: fc.integer({ min: 0, max: 5 }),
    outer: fc.integer({ min: 1, max: 4 }),
    n: fc.integer({ min: 1, max: 11 }),
    inner: fc.oneof(fc.integer({ min: 1, max: 19 }), fc.constant(1)),
    pad: fc.integer({ min: 0, max: 3 }),
    acc: fc.integer({ min: 0, max: 1 }),
    seed: fc.integer(),
  })
  .map(({ seed, ...rest }) => ({ ...rest, next: stream(seed) }));

/** A matrix of `width` columns: pointer and stride, off its alignment as often as not. */
function matrix({ rows, pad, next }: Case, width: number, values?: Float32Array): [number, number] {
  const stride = width + pad;
  return [h.putF32(values ?? randomFloats(next, rows * stride), 4 * Math.floor(next() * 4)), stride];
}

const count = (c: Case, max: number) => 1 + Math.floor(c.next() * max);
const whole = (c: Case, length: number, below: number) => Array.from({ length }, () => Math.floor(c.next() * below));

type Call = { [K in keyof DenseKernels]: readonly [K, Parameters<DenseKernels[K]>, Same?] }[keyof DenseKernels];

/** Each lays its operands out and says what to call. */
const CALLS: Readonly<Record<string, (c: Case) => Call>> = {
  copyBlocksF32: (c) => {
    const [from, to] = [c.inner + count(c, 3) - 1, c.inner + count(c, 3) - 1];
    const [src, dst] = [matrix(c, c.outer * from), matrix(c, c.outer * to)];
    return ['copyBlocksF32', [...src, from, ...dst, to, c.rows, c.outer, c.inner, c.acc]];
  },
  transposeInnerF32: (c) => {
    const width = c.outer * c.n * c.inner;
    return ['transposeInnerF32', [...matrix(c, width), ...matrix(c, width), c.rows, c.outer, c.n, c.inner, c.acc]];
  },
  gatherInnerF32: (c) => {
    const k = count(c, 5);
    const [src, dst] = [matrix(c, c.outer * c.n * c.inner), matrix(c, c.outer * k * c.inner)];
    const indices = h.putI32(whole(c, k, c.n));
    return ['gatherInnerF32', [...src, ...dst, c.rows, c.outer, c.n, c.inner, indices, k, c.acc]];
  },
  scatterInnerF32: (c) => {
    const k = count(c, 5);
    const [src, dst] = [matrix(c, c.outer * k * c.inner), matrix(c, c.outer * c.n * c.inner)];
    const indices = h.putI32(whole(c, k, c.n));
    return ['scatterInnerF32', [...src, ...dst, c.rows, c.outer, c.n, c.inner, indices, k, c.acc]];
  },
  sumInnerF32: (c) => {
    const [src, dst] = [matrix(c, c.outer * c.n * c.inner), matrix(c, c.outer * c.inner)];
    return ['sumInnerF32', [...src, ...dst, c.rows, c.outer, c.n, c.inner, Math.fround(c.next()), c.acc]];
  },
  maxInnerF32: (c) => {
    const [src, dst] = [matrix(c, c.outer * c.n * c.inner), matrix(c, c.outer * c.inner)];
    return ['maxInnerF32', [...src, ...dst, c.rows, c.outer, c.n, c.inner, c.acc]];
  },
  maxInnerGradF32: (c) => {
    const [wide, narrow] = [c.outer * c.n * c.inner, c.outer * c.inner];
    // Few different values, so that there are ties.
    const x = matrix(c, wide, Float32Array.from(whole(c, c.rows * (wide + c.pad), 3)));
    const y = matrix(c, narrow);
    h.wasm.maxInnerF32(...x, ...y, c.rows, c.outer, c.n, c.inner, 0);
    return [
      'maxInnerGradF32',
      [...matrix(c, narrow), ...x, ...y, ...matrix(c, wide), c.rows, c.outer, c.n, c.inner, c.acc],
    ];
  },
  broadcastInnerF32: (c) => {
    const [src, dst] = [matrix(c, c.outer * c.inner), matrix(c, c.outer * c.n * c.inner)];
    const factor = c.next() < 0.5 ? 1 : Math.fround(c.next());
    return ['broadcastInnerF32', [...src, ...dst, c.rows, c.outer, c.n, c.inner, factor, c.acc]];
  },
  addSharedF32: (c) => {
    const [cols, v] = [c.n * c.inner, h.putF32(randomFloats(c.next, c.inner))];
    return ['addSharedF32', [...matrix(c, cols), v, ...matrix(c, cols), c.rows, cols, c.inner, c.acc]];
  },
  mulSharedF32: (c) => {
    const [cols, v] = [c.n * c.inner, h.putF32(randomFloats(c.next, c.inner))];
    return ['mulSharedF32', [...matrix(c, cols), v, ...matrix(c, cols), c.rows, cols, c.inner, c.acc]];
  },
  sumSharedF32: (c) => {
    const [cols, dst] = [c.n * c.inner, h.putF32(randomFloats(c.next, c.inner))];
    const other: [number, number] = c.acc ? matrix(c, cols) : [0, 0];
    return ['sumSharedF32', [...matrix(c, cols), ...other, dst, c.rows, cols, c.inner]];
  },
  scaleGroupsF32: (c) => {
    const cols = c.n * c.inner;
    return ['scaleGroupsF32', [...matrix(c, c.n), ...matrix(c, cols), ...matrix(c, cols), c.rows, c.n, c.inner, c.acc]];
  },
  groupDotF32: (c) => {
    const cols = c.n * c.inner;
    return ['groupDotF32', [...matrix(c, cols), ...matrix(c, cols), ...matrix(c, c.n), c.rows, c.n, c.inner, c.acc]];
  },
  softmaxF32: (c) => {
    const cols = c.outer * c.n;
    const shared = c.next() < 0.5;
    const bits = Float32Array.from(whole(c, c.rows * (cols + c.pad), 2));
    const mask: [number, number] = c.acc ? matrix(c, cols, bits) : [0, 0];
    const args = [...matrix(c, cols), ...mask, shared ? 0 : c.n, ...matrix(c, cols)] as const;
    return ['softmaxF32', [...args, c.rows, c.outer, c.n], within(8, 1e-37)];
  },
  softmaxGradF32: (c) => {
    const cols = c.outer * c.n;
    return [
      'softmaxGradF32',
      [...matrix(c, cols), ...matrix(c, cols), ...matrix(c, cols), c.rows, c.outer, c.n, c.acc],
    ];
  },
  topKF32: (c) => {
    const [cols, k] = [c.outer * c.n, count(c, c.n)];
    const x = matrix(c, cols, c.acc ? Float32Array.from(whole(c, c.rows * (cols + c.pad), 4)) : undefined);
    return ['topKF32', [...x, ...matrix(c, c.outer * k), ...matrix(c, c.outer * k), c.rows, c.outer, c.n, k]];
  },
  topKGradF32: (c) => {
    const k = count(c, c.n);
    const indices = matrix(c, c.outer * k, Float32Array.from(whole(c, c.rows * (c.outer * k + c.pad), c.n)));
    const [dy, dx] = [matrix(c, c.outer * k), matrix(c, c.outer * c.n)];
    return ['topKGradF32', [...dy, ...indices, ...dx, c.rows, c.outer, c.n, k, c.acc]];
  },
  batchMatMulF32: (c) => {
    const [groups, m, n, k] = [c.outer, c.n, c.inner, count(c, 13)];
    const side = (rows: number, cols: number) => (c.next() < 0.5 ? [rows * cols, cols, 1] : [rows * cols, 1, rows]);
    const shape = h.putI32([groups, m, n, k, ...side(m, k), ...side(k, n), m * n, n]);
    const [a, b] = [matrix(c, groups * m * k), matrix(c, groups * k * n)];
    if (c.next() < 0.3) b[1] = 0;
    return ['batchMatMulF32', [...a, ...b, ...matrix(c, groups * m * n), c.rows, shape, c.acc]];
  },
  pairProductsF32: (c) => {
    const [lefts, rights, dim] = [c.outer, c.n, c.inner];
    const sides = [...matrix(c, lefts * dim), ...matrix(c, rights * dim)] as [number, number, number, number];
    return ['pairProductsF32', [...sides, ...matrix(c, lefts * rights * dim), c.rows, lefts, rights, dim, c.acc]];
  },
  pairProductsGradF32: (c) => {
    const [lefts, rights, dim] = [c.outer, c.n, c.inner];
    const dy = matrix(c, lefts * rights * dim);
    const left = c.next() < 0.5;
    const [own, others] = left ? [lefts, rights] : [rights, lefts];
    const [other, dx] = [matrix(c, others * dim), matrix(c, own * dim)];
    const steps = left ? ([rights, 1] as const) : ([1, rights] as const);
    return ['pairProductsGradF32', [...dy, ...other, ...dx, c.rows, own, others, dim, ...steps, c.acc]];
  },
  cinF32: (c) => {
    const [lefts, rights, dim, outs] = [c.outer, c.n, c.inner, count(c, 6)];
    const scratch = h.alloc(lefts * rights * dim * 4);
    const w = h.putF32(randomFloats(c.next, lefts * rights * outs));
    const sides = [...matrix(c, lefts * dim), ...matrix(c, rights * dim)] as [number, number, number, number];
    return ['cinF32', [...sides, w, ...matrix(c, outs * dim), c.rows, lefts, rights, dim, outs, scratch, c.acc]];
  },
  cinGradF32: (c) => {
    const [lefts, rights, dim, outs] = [c.outer, c.n, c.inner, count(c, 6)];
    const scratch = h.alloc(((2 * lefts * rights + outs) * dim + lefts * rights * outs) * 4);
    const [w, dw] = [h.putF32(randomFloats(c.next, lefts * rights * outs)), h.alloc(lefts * rights * outs * 4)];
    const [dy, left, right] = [matrix(c, outs * dim), matrix(c, lefts * dim), matrix(c, rights * dim)];
    const [dLeft, dRight] = [matrix(c, lefts * dim), matrix(c, rights * dim)];
    return [
      'cinGradF32',
      [...dy, ...left, ...right, w, ...dLeft, c.acc, ...dRight, 1, dw, c.rows, lefts, rights, dim, outs, scratch],
    ];
  },
};

for (const [name, prepare] of Object.entries(CALLS)) {
  t.test(`${name} equals its reference`, async () => {
    fc.assert(
      fc.property(cases, (c) =>
        h.scope(() => {
          const begin = h.arena.mark();
          const [kernel, args, same] = prepare(c);
          runBoth(h, begin, kernel as 'softmaxF32', args as Parameters<DenseKernels['softmaxF32']>, same);
        }),
      ),
      { numRuns: 200 },
    );
  });
}

t.test('multiplyU32 multiplies', async (t) => {
  t.equal(h.wasm.multiplyU32(7, 6), 42);
});
