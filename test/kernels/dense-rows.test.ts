import fc from 'fast-check';
import t from 'tap';
import { normalCdf } from '../../src/runtime/backends/reference/dense/normal.js';
import { forShapes, identical, putMatrix, randomFloats, runBoth, type Same, stream } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

/** Near in size: activations of a large negative input are tiny, and their relative error does not matter. */
const near =
  (relative: number, absolute: number): Same =>
  (wasm, plain) =>
    Object.is(wasm, plain) || Math.abs(wasm - plain) <= absolute + relative * Math.abs(plain);

const SMOOTH = [
  ['geluF32', 'geluGradF32'],
  ['geluTanhF32', 'geluTanhGradF32'],
  ['swishF32', 'swishGradF32'],
  ['softplusF32', 'softplusGradF32'],
] as const;

for (const [forward, backward] of SMOOTH) {
  t.test(`${forward} and ${backward} agree with their references for any shape`, async () => {
    forShapes(h, 120, (shape, begin) => {
      const next = stream(shape.seed);
      const { rows, cols, acc } = shape;
      const x = putMatrix(h, shape, 0, next);
      const y = putMatrix(h, shape, 1, next);
      const dy = putMatrix(h, shape, 2, next);
      runBoth(h, begin, forward, [x.at, x.stride, y.at, y.stride, rows, cols], near(1e-6, 2e-6));
      const args = [dy.at, dy.stride, x.at, x.stride, y.at, y.stride, rows, cols, acc] as const;
      // What a sum cancels, its operands have lost before: 2^-23 of a product of gradient and input, each below 16.
      runBoth(h, begin, backward, [...args], near(2e-6, acc ? 4e-5 : 1e-5));
      runBoth(h, begin, forward, [x.at, x.stride, x.at, x.stride, rows, cols], near(1e-6, 2e-6));
    });
  });
}

t.test('gelu is within 3e-7 of x * Phi(x), relative to x', async (t) => {
  h.scope(() => {
    const xs = Float32Array.from({ length: 60_001 }, (_, i) => (i - 30_000) / 3000);
    const x = h.putF32(xs);
    h.wasm.geluF32(x, 1, x, 1, xs.length, 1);
    const ys = h.f32(x, xs.length);
    const worst = xs.reduce(
      (most, v, i) => Math.max(most, Math.abs(ys[i]! - v * normalCdf(v)) / Math.max(1e-3, Math.abs(v))),
      0,
    );
    t.ok(worst < 3e-7, `${worst}`);
  });
});

t.test('the normal distribution of the references is that of the tables', async (t) => {
  for (const [x, p] of [
    [0, 0.5],
    [1, 0.8413447460685429],
    [-2, 0.022750131948179195],
    [-3, 0.0013498980316300933],
    [3.5, 0.9997673709209645],
    [-6, 9.865876450376946e-10],
  ] as const) {
    t.ok(Math.abs(normalCdf(x) / p - 1) < 1e-12, `${x}: ${normalCdf(x)}`);
  }
  t.same([normalCdf(Number.POSITIVE_INFINITY), normalCdf(Number.NEGATIVE_INFINITY)], [1, 0]);
  t.ok(Number.isNaN(normalCdf(Number.NaN)));
});

t.test('rectifiers and factors per column equal their references bit for bit', async () => {
  forShapes(h, 150, (shape, begin) => {
    const next = stream(shape.seed);
    const { rows, cols, acc } = shape;
    const [x, y, dy] = [0, 1, 2].map((index) => putMatrix(h, shape, index, next, true));
    const slope = h.putF32(randomFloats(next, cols), shape.skews[3]);
    const sums = h.putF32(randomFloats(next, cols), shape.skews[2]);
    const [X, Y, G] = [x!, y!, dy!].map(({ at, stride }) => [at, stride] as const) as [P, P, P];
    runBoth(h, begin, 'leakyReluF32', [...X, ...Y, rows, cols, 0.3]);
    runBoth(h, begin, 'leakyReluGradF32', [...G, ...X, ...Y, rows, cols, 0.3, acc]);
    runBoth(h, begin, 'preluF32', [...X, slope, ...Y, rows, cols]);
    runBoth(h, begin, 'preluGradF32', [...G, ...X, slope, ...Y, rows, cols, acc]);
    runBoth(h, begin, 'preluSlopeGradF32', [...G, ...X, sums, rows, cols]);
    runBoth(h, begin, 'scaleColumnsF32', [...X, slope, ...Y, rows, cols, acc]);
    runBoth(h, begin, 'preluF32', [...X, slope, ...X, rows, cols]);
  });
});
type P = readonly [number, number];

t.test('norms equal their references bit for bit, specials included', async () => {
  for (const specials of [false, true]) {
    forShapes(h, 120, (shape, begin) => {
      const next = stream(shape.seed);
      const { rows, cols, acc } = shape;
      const [x, y, dy] = [0, 1, 2].map((index) => putMatrix(h, shape, index, next, specials));
      const [gain, bias, sums] = [0, 1, 2].map((index) => h.putF32(randomFloats(next, cols), shape.skews[index]));
      const stats = h.putF32(randomFloats(next, rows * 2));
      const [X, Y, G] = [x!, y!, dy!].map(({ at, stride }) => [at, stride] as const) as [P, P, P];
      const epsilon = shape.seed % 2 === 0 ? 1e-3 : 30;
      runBoth(h, begin, 'layerNormF32', [...X, gain!, bias!, ...Y, stats, rows, cols, epsilon]);
      runBoth(h, begin, 'layerNormGradF32', [...G, ...X, gain!, stats, ...Y, rows, cols, acc]);
      runBoth(h, begin, 'layerNormGainGradF32', [...G, ...X, stats, sums!, rows, cols]);
      runBoth(h, begin, 'l2NormalizeF32', [...X, ...Y, rows, cols, epsilon]);
      runBoth(h, begin, 'l2NormalizeGradF32', [...G, ...X, ...Y, rows, cols, epsilon, acc]);
      runBoth(h, begin, 'layerNormF32', [...X, gain!, bias!, ...X, stats, rows, cols, epsilon]);
    });
  }
});

const batches = fc.record({
  rows: fc.integer({ min: 0, max: 23 }),
  strides: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 4, maxLength: 4 }),
  skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 4, maxLength: 4 }),
  factors: fc.tuple(fc.constantFrom(0, 0.5, 2, 3.5), fc.double({ min: 0, max: 3 }), fc.double({ min: 0, max: 3 })),
  soft: fc.boolean(),
  acc: fc.integer({ min: 0, max: 1 }),
  seed: fc.integer(),
});

t.test('losses of a logit and their gradients agree with their references', async () => {
  fc.assert(
    fc.property(batches, ({ rows, strides, skews, factors, soft, acc, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const begin = h.arena.mark();
        const column = (index: number, value: () => number) =>
          [h.putF32(Float32Array.from({ length: rows * strides[index]! }, value), skews[index]), strides[index]!] as P;
        const x = column(0, () => (next() - 0.5) * 40);
        const label = column(1, () => (soft ? next() : Math.round(next())));
        const out = column(2, next);
        const dy = column(3, next);
        const [gamma, positive, negative] = factors.map(Math.fround) as [number, number, number];
        const same = near(3e-6, 1e-5);
        runBoth(h, begin, 'weightedBceF32', [...x, ...label, ...out, rows, positive, negative], same);
        runBoth(h, begin, 'weightedBceGradF32', [...x, ...label, ...dy, ...out, rows, positive, negative, acc], same);
        runBoth(h, begin, 'hingeF32', [...x, ...label, ...out, rows], identical);
        runBoth(h, begin, 'hingeGradF32', [...x, ...label, ...dy, ...out, rows, acc], identical);
        runBoth(h, begin, 'focalF32', [...x, ...label, ...out, rows, gamma, positive, negative], same);
        const args = [...x, ...label, ...dy, ...out, rows, gamma, positive, negative, acc] as const;
        runBoth(h, begin, 'focalGradF32', [...args], same);
      }),
    ),
    { numRuns: 200 },
  );
});

t.test('far logits have finite losses', async (t) => {
  h.scope(() => {
    const xs = [-1e4, -90, 90, 1e4];
    const [x, label, out, dy] = [xs, [1, 1, 0, 0], xs, [1, 1, 1, 1]].map((list) => h.putF32(list));
    h.wasm.focalF32(x!, 1, label!, 1, out!, 1, 4, 2, 1, 1);
    t.same([...h.f32(out!, 4)], [1e4, 90, 90, 1e4]);
    h.wasm.focalGradF32(x!, 1, label!, 1, dy!, 1, out!, 1, 4, 2, 1, 1, 0);
    t.same([...h.f32(out!, 4)], [-1, -1, 1, 1]);
  });
});

t.test('softmax cross entropy and its gradient agree with their references', async () => {
  forShapes(h, 200, (shape, begin) => {
    if (shape.cols === 0) return;
    const next = stream(shape.seed);
    const { rows, cols, acc, pads } = shape;
    const x = putMatrix(h, shape, 0, next);
    const dx = putMatrix(h, shape, 1, next);
    const index = shape.seed % 2 === 0 ? 1 : 0;
    const labelStride = (index ? 1 : cols) + pads[2]!;
    const value = () => (index ? Math.floor(next() * (cols + 1)) - (next() < 0.1 ? 0.5 : 0) : next());
    const label = h.putF32(Float32Array.from({ length: rows * labelStride }, value), shape.skews[2]);
    const out = h.putF32(randomFloats(next, rows * 2), shape.skews[3]);
    const X = [x.at, x.stride] as const;
    // Labels of a row add up to half its width: so much is the scale of what is subtracted.
    const same = near(3e-6, 1e-6 * (4 + cols));
    runBoth(h, begin, 'softmaxLossF32', [...X, label, labelStride, out, 2, rows, cols, index], same);
    const grads = [...X, label, labelStride, out, 2, dx.at, dx.stride, rows, cols, index, acc] as const;
    runBoth(h, begin, 'softmaxLossGradF32', [...grads], same);
  });
});

t.test('whole numbers become floats, rounded once', async () => {
  const edges = [
    0n,
    -1n,
    2n ** 24n + 1n,
    2n ** 62n + 2n ** 38n,
    2n ** 62n + 2n ** 38n + 1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ];
  forShapes(h, 100, (shape, begin) => {
    const next = stream(shape.seed);
    const { rows, cols } = shape;
    const stride = cols + (shape.seed & 3);
    const any = () => BigInt.asIntN(64, BigInt(Math.floor(next() * 2 ** 53)) << BigInt(Math.floor(next() * 64)));
    const values = Array.from({ length: rows * stride }, () =>
      next() < 0.2 ? edges[Math.floor(next() * edges.length)]! : any(),
    );
    const src = h.putI64(values);
    const dst = putMatrix(h, shape, 1, next);
    runBoth(h, begin, 'castI64F32', [src, stride, dst.at, dst.stride, rows, cols]);
  });
});

t.test('dropout and division by a number of the batch equal their references bit for bit', async () => {
  forShapes(h, 150, (shape, begin) => {
    const next = stream(shape.seed);
    const { rows, cols, acc } = shape;
    const x = putMatrix(h, shape, 0, next, true);
    const y = putMatrix(h, shape, 1, next);
    const step = h.putI64([BigInt(Math.floor(next() * 2 ** 40))]);
    const [first, seed, drop] = [1 << 20, 2 ** 32, 2 ** 32].map((limit) => Math.floor(next() * limit));
    const sizes = [rows, cols] as const;
    const args = [x.at, x.stride, y.at, y.stride, ...sizes, first!, step, seed!, drop!, 1.25, acc] as const;
    runBoth(h, begin, 'dropoutF32', [...args]);
    const divisor = h.putF32([next() < 0.3 ? 0 : next() - 0.5]);
    runBoth(h, begin, 'divideByScalarF32', [x.at, x.stride, divisor, y.at, y.stride, ...sizes, acc]);
  });
});
