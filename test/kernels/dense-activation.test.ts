import t from 'tap';
import { forShapes, identical, putMatrix, runBoth, type Same, stream, ulpOf, within } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

/** Error bounds the kernels state. Subnormal results are held to the subnormal spacing. */
const FORWARD: [name: 'reluF32' | 'sigmoidF32' | 'tanhF32', same: Same][] = [
  ['reluF32', identical],
  ['sigmoidF32', within(3)],
  ['tanhF32', within(2)],
];

for (const [name, same] of FORWARD) {
  t.test(`${name} agrees with its reference for any shape, NaN and infinity included`, async () => {
    forShapes(h, 150, (shape, begin) => {
      const next = stream(shape.seed);
      const x = putMatrix(h, shape, 0, next, true);
      const y = putMatrix(h, shape, 1, next);
      runBoth(h, begin, name, [x.at, x.stride, y.at, y.stride, shape.rows, shape.cols], same);
      runBoth(h, begin, name, [x.at, x.stride, x.at, x.stride, shape.rows, shape.cols], same);
    });
  });
}

t.test('biasReluF32 equals its reference bit for bit, also in place', async () => {
  forShapes(h, 150, (shape, begin) => {
    const next = stream(shape.seed);
    const { rows, cols } = shape;
    const x = putMatrix(h, shape, 0, next, true);
    const y = putMatrix(h, shape, 1, next);
    const bias = h.putF32(Array.from({ length: cols }, next));
    runBoth(h, begin, 'biasReluF32', [x.at, x.stride, bias, y.at, y.stride, rows, cols]);
    runBoth(h, begin, 'biasReluF32', [x.at, x.stride, bias, x.at, x.stride, rows, cols]);
  });
});

for (const name of ['reluGradF32', 'sigmoidGradF32', 'tanhGradF32'] as const) {
  t.test(`${name} equals its reference bit for bit`, async () => {
    forShapes(h, 150, (shape, begin) => {
      const next = stream(shape.seed);
      const dy = putMatrix(h, shape, 0, next, true);
      const y = putMatrix(h, shape, 1, next, true);
      const dx = putMatrix(h, shape, 2, next);
      const { rows, cols, acc } = shape;
      runBoth(h, begin, name, [dy.at, dy.stride, y.at, y.stride, dx.at, dx.stride, rows, cols, acc]);
    });
  });
}

/** Every `step`-th f32 from 0 to infinity, and the negatives. */
function sweep(step: number): Float32Array {
  const bits = new Uint32Array(Math.floor(0x7f800000 / step) * 2);
  for (let i = 0; i < bits.length; i += 2) {
    bits[i] = (i / 2) * step;
    bits[i + 1] = (i / 2) * step + 0x80000000;
  }
  return new Float32Array(bits.buffer);
}

t.test('sigmoid stays within 2.5 ulp and tanh within 1.5 over the whole range', async (t) => {
  const xs = sweep(20011);
  const logistic = (x: number) => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)));
  for (const [name, exact, limit] of [
    ['sigmoidF32', logistic, 2.5],
    ['tanhF32', Math.tanh, 1.5],
  ] as const) {
    h.scope(() => {
      const x = h.putF32(xs);
      h.wasm[name](x, 1, x, 1, xs.length, 1);
      const ys = h.f32(x, xs.length);
      let worst = 0;
      for (let i = 0; i < xs.length; i++) {
        const value = exact(xs[i]!);
        worst = Math.max(worst, Math.abs(ys[i]! - value) / ulpOf(value));
      }
      t.ok(worst <= limit, `${name} is within ${limit} ulp`, { worst });
    });
  }
});

t.test('both ends of sigmoid and tanh are exact', async (t) => {
  h.scope(() => {
    const inf = Number.POSITIVE_INFINITY;
    const xs = [-inf, -1e4, -200, 0, -0, 40, 1e4, inf];
    const x = h.putF32(xs);
    const y = h.alloc(xs.length * 4);
    h.wasm.sigmoidF32(x, 1, y, 1, xs.length, 1);
    t.same([...h.f32(y, xs.length)], [0, 0, 0, 0.5, 0.5, 1, 1, 1]);
    h.wasm.tanhF32(x, 1, y, 1, xs.length, 1);
    t.ok([...h.f32(y, xs.length)].every((v, i) => Object.is(v, [-1, -1, -1, 0, -0, 1, 1, 1][i])));
  });
});

t.test('a value does not depend on its place in the row', async (t) => {
  h.scope(() => {
    const x = h.putF32(new Array(7).fill(0.7315));
    h.wasm.tanhF32(x, 7, x, 7, 1, 7);
    t.equal(new Set(h.f32(x, 7)).size, 1);
  });
});
