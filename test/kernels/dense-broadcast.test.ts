import t from 'tap';
import { UNARY_KIND } from '../../src/memory/kinds.js';
import { COMPLETED_GRAIN } from '../../src/runtime/compile/program-code.js';
import { inbatchAucLoss, inbatchAucLossGradient } from '../../src/tensor/ops/inbatch-auc-loss.js';
import { forShapes, putMatrix, randomFloats, runBoth, stream, within } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();
const BINARY_KINDS = 8;
const EXACT_UNARY = [UNARY_KIND.abs, UNARY_KIND.sqrt, UNARY_KIND.sign];
/** How many units in the last place the others may be off. */
const ULPS = { exp: 2, log: 2, log1p: 4 } as const;

t.test('binaryF32 equals its reference for any shape, with rows and elements that repeat', async () => {
  forShapes(h, 150, (shape, begin) => {
    const next = stream(shape.seed);
    const a = putMatrix(h, shape, 0, next, true);
    const b = putMatrix(h, shape, 1, next, true);
    const dst = putMatrix(h, shape, 2, next);
    const { rows, cols } = shape;
    for (let kind = 0; kind < BINARY_KINDS; kind++) {
      for (const [aStride, aStep, bStride, bStep] of [
        [a.stride, 1, b.stride, 1],
        [a.stride, 1, 0, 1],
        [a.stride, 1, b.stride, 0],
        [a.stride, 1, 0, 0],
        [a.stride, 0, 0, 1],
        [0, 0, b.stride, 1],
      ] as const) {
        runBoth(h, begin, 'binaryF32', [
          kind,
          a.at,
          aStride,
          aStep,
          b.at,
          bStride,
          bStep,
          dst.at,
          dst.stride,
          rows,
          cols,
        ]);
      }
    }
  });
});

t.test('unaryF32 is exact, or within a few ulp for exp and logarithms', async () => {
  forShapes(h, 150, (shape, begin) => {
    const next = stream(shape.seed);
    const x = putMatrix(h, shape, 0, next, true);
    const y = putMatrix(h, shape, 1, next);
    const { rows, cols } = shape;
    for (const kind of EXACT_UNARY) runBoth(h, begin, 'unaryF32', [kind, x.at, x.stride, y.at, y.stride, rows, cols]);
    for (const [name, ulps] of Object.entries(ULPS)) {
      const kind = UNARY_KIND[name as keyof typeof ULPS];
      runBoth(h, begin, 'unaryF32', [kind, x.at, x.stride, y.at, y.stride, rows, cols], within(ulps, 2e-45));
    }
  });
});

t.test('exp and logarithms keep their error over the whole range of floats', async () => {
  const count = 1 << 12;
  for (const [name, from, to, at] of [
    ['exp', -104, 90, (x: number) => x],
    ['log', -149, 128, (x: number) => 2 ** x],
    ['log1p', -149, 128, (x: number) => 2 ** x],
    ['log1p', -149, 0, (x: number) => -(2 ** x)],
    ['log1p', -30, 0, (x: number) => 2 ** x - 1],
  ] as const) {
    h.scope(() => {
      const begin = h.arena.mark();
      const values = Float32Array.from({ length: count }, (_, i) => {
        return at(from + ((to - from) * i) / count);
      });
      const x = h.putF32([...values, 0, -0, -1, Infinity, -Infinity, NaN]);
      const y = h.alloc((count + 6) * 4);
      const args = [UNARY_KIND[name], x, count + 6, y, count + 6, 1, count + 6];
      runBoth(h, begin, 'unaryF32', args, within(ULPS[name], 2e-45));
    });
  }
});

t.test('broadcastF32, row sums and extremes equal their references', async () => {
  forShapes(h, 150, (shape, begin) => {
    const next = stream(shape.seed);
    const src = putMatrix(h, shape, 0, next);
    const dst = putMatrix(h, shape, 1, next);
    const { rows, cols, acc } = shape;
    for (const [stride, step] of [
      [src.stride, 1],
      [0, 1],
      [src.stride, 0],
      [0, 0],
    ] as const) {
      runBoth(h, begin, 'broadcastF32', [src.at, stride, step, dst.at, dst.stride, rows, cols, 0.3, acc]);
    }
    const out = h.alloc(rows * 4 + 4);
    runBoth(h, begin, 'sumColumnsF32', [src.at, src.stride, rows, cols, out, 1, 0.7]);
    runBoth(h, begin, 'maxColumnsF32', [src.at, src.stride, rows, cols, out, 1]);
    runBoth(h, begin, 'maxRowsF32', [src.at, src.stride, h.alloc(cols * 4 + 4), rows, cols]);
  });
});

t.test('norms are sums of grains, and clipping is by the plain rule', async (t) => {
  for (const count of [0, 1, 7, COMPLETED_GRAIN, COMPLETED_GRAIN * 2 + 5]) {
    h.scope(() => {
      const begin = h.arena.mark();
      const values = randomFloats(stream(count), count);
      const src = h.putF32(values);
      const sums = h.alloc(8 * (Math.ceil(count / COMPLETED_GRAIN) + 1));
      const norm = h.alloc(16);
      const out = h.alloc(count * 4 + 4);
      const bits = within(0);
      runBoth(h, begin, 'sumSquaresF64', [src, count, COMPLETED_GRAIN, sums], bits);
      runBoth(h, begin, 'rootOfSumF32', [sums, Math.ceil(count / COMPLETED_GRAIN), norm], bits);
      const size = Math.sqrt(values.reduce((sum, v) => sum + v * v, 0));
      t.ok(Math.abs(h.f32(norm, 1)[0]! - size) <= 1e-6 * size + 1e-30, `${count}`);
      for (const limit of [size / 3, size * 2]) runBoth(h, begin, 'clipToNormF32', [src, norm, out, count, limit]);
      h.views.f32[norm / 4] = NaN;
      runBoth(h, begin, 'clipToNormF32', [src, norm, out, count, 0.1]);
    });
  }
});

t.test('in-batch AUC equals its reference slice by slice, and the plain function over all', async (t) => {
  forShapes(h, 100, ({ rows, cols, seed, acc, skews }, begin) => {
    const next = stream(seed);
    const total = rows + cols;
    const label = Float32Array.from({ length: total }, () => [1, 0, -1, -10001, 0.5][Math.floor(next() * 5)]!);
    const logit = Float32Array.from({ length: total }, () => (next() - 0.5) * 200 ** next());
    const [labels, logits] = [h.putF32(label, skews[0]), h.putF32(logit, skews[1])];
    const [out, grad, dst] = [h.alloc(16), h.putF32([0.7]), h.putF32(randomFloats(next, total))];
    const near = within(64, 1e-4);
    runBoth(h, begin, 'inbatchAucF32', [labels, logits, total, cols, rows, out], near);
    runBoth(h, begin, 'inbatchAucGradF32', [labels, logits, total, cols, rows, grad, 0.3, dst, 1, acc], near);
    runBoth(h, begin, 'inbatchAucF32', [labels, logits, total, 0, total, out], near);
    const loss = inbatchAucLoss(label, logit);
    t.ok(Math.abs(h.f32(out, 1)[0]! - loss) <= 1e-5 * Math.abs(loss) + 1e-4);
    runBoth(h, begin, 'inbatchAucGradF32', [labels, logits, total, 0, total, grad, 0.3, dst, 1, 0], near);
    const expected = inbatchAucLossGradient(label, logit, Math.fround(0.7), 0.3);
    h.f32(dst, total).forEach((value, i) => {
      if (!(Math.abs(value - expected[i]!) <= 1e-4 * Math.abs(expected[i]!) + 1e-4))
        t.equal(value, expected[i], `${i}`);
    });
  });
});
