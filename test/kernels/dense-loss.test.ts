import fc from 'fast-check';
import t from 'tap';
import { runBoth, stream, ulpOf, within } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

const batches = fc.record({
  rows: fc.integer({ min: 0, max: 23 }),
  strides: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 4, maxLength: 4 }),
  skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 4, maxLength: 4 }),
  soft: fc.boolean(),
  acc: fc.integer({ min: 0, max: 1 }),
  seed: fc.integer(),
});

t.test('loss and gradient agree with their references for any batch, stride and alignment', async () => {
  fc.assert(
    fc.property(batches, ({ rows, strides, skews, soft, acc, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const begin = h.arena.mark();
        const column = (index: number, value: () => number) =>
          h.putF32(Float32Array.from({ length: rows * strides[index]! }, value), skews[index]);
        const x = column(0, () => (next() - 0.5) * 40);
        const label = column(1, () => (soft ? next() : Math.round(next())));
        const out = column(2, next);
        const dy = column(3, next);
        const [xs, ls, os, ds] = strides as [number, number, number, number];
        // The reference sums in f64 and rounds once; the kernel also rounds x * label when the label is not 0 or 1.
        runBoth(h, begin, 'bceLogitsF32', [x, xs, label, ls, out, os, rows], within(soft ? 3 : 1, soft ? 4e-6 : 2e-7));
        runBoth(h, begin, 'bceLogitsGradF32', [x, xs, label, ls, dy, ds, out, os, rows, acc], within(1, 3e-7));
      }),
    ),
    { numRuns: 300 },
  );
});

t.test('the loss is within 2e-7 of the exact one, beyond the rounding of its own last place', async (t) => {
  h.scope(() => {
    const count = 40_001;
    const xs = Float32Array.from({ length: count }, (_, i) => (i - 20_000) / 1000);
    const x = h.putF32(xs);
    const label = h.alloc(count * 4);
    const out = h.alloc(count * 4);
    for (const y of [0, 1]) {
      h.views.f32.fill(y, label / 4, label / 4 + count);
      h.wasm.bceLogitsF32(x, 1, label, 1, out, 1, count);
      const found = h.f32(out, count);
      let worst = 0;
      for (let i = 0; i < count; i++) {
        const exact = Math.max(xs[i]!, 0) - xs[i]! * y + Math.log1p(Math.exp(-Math.abs(xs[i]!)));
        worst = Math.max(worst, Math.abs(found[i]! - exact) - ulpOf(exact) / 2);
      }
      t.ok(worst <= 2e-7, `label ${y}`, { worst });
    }
  });
});

t.test('far logits give finite losses, infinite ones what the formula gives', async (t) => {
  h.scope(() => {
    const inf = Number.POSITIVE_INFINITY;
    const xs = [88, -88, 1e4, -1e4, inf, -inf, Number.NaN];
    const [x, dx] = [h.putF32(xs), h.alloc(xs.length * 4)];
    const out = h.alloc(xs.length * 4);
    const losses = (y: number) => {
      const label = h.putF32(new Array(xs.length).fill(y));
      const dy = h.putF32(new Array(xs.length).fill(1));
      h.wasm.bceLogitsF32(x, 1, label, 1, out, 1, xs.length);
      h.wasm.bceLogitsGradF32(x, 1, label, 1, dy, 1, dx, 1, xs.length, 0);
      return { loss: [...h.f32(out, xs.length)], grad: [...h.f32(dx, xs.length)] };
    };
    const zero = losses(0);
    const tiny = zero.loss[1]!;
    t.ok(Math.abs(tiny / Math.exp(-88) - 1) < 1e-5, 'exp(-88), a subnormal', { tiny });
    t.same(zero.loss, [88, tiny, 1e4, 0, Number.NaN, Number.NaN, Number.NaN]);
    t.same(zero.grad.slice(2), [1, 0, 1, 0, Number.NaN]);
    const one = losses(1);
    t.same(one.loss, [tiny, 88, 0, 1e4, Number.NaN, inf, Number.NaN]);
    t.same(one.grad.slice(1), [-1, 0, -1, 0, -1, Number.NaN]);
  });
});
