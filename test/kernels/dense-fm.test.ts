import fc from 'fast-check';
import t from 'tap';
import { randomFloats, runBoth, stream } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

const cases = fc.record({
  rows: fc.integer({ min: 0, max: 7 }),
  fields: fc.integer({ min: 0, max: 9 }),
  dim: fc.oneof(fc.integer({ min: 0, max: 23 }), fc.constantFrom(1, 16, 36)),
  pads: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 3, maxLength: 3 }),
  skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 3, maxLength: 3 }),
  acc: fc.integer({ min: 0, max: 1 }),
  seed: fc.integer(),
});

t.test('fmPairsF32 and its gradient equal their references', async () => {
  fc.assert(
    fc.property(cases, ({ rows, fields, dim, pads, skews, acc, seed }) =>
      h.scope(() => {
        const begin = h.arena.mark();
        const next = stream(seed);
        const width = fields * dim;
        const [xStride, dxStride, oneStride] = [width + pads[0]!, width + pads[1]!, 1 + pads[2]!];
        const x = h.putF32(randomFloats(next, rows * xStride), skews[0]);
        const dx = h.putF32(randomFloats(next, rows * dxStride), skews[1]);
        const one = h.putF32(randomFloats(next, rows * oneStride), skews[2]);
        runBoth(h, begin, 'fmPairsGradF32', [one, oneStride, x, xStride, dx, dxStride, rows, fields, dim, acc]);
        runBoth(h, begin, 'fmPairsF32', [x, xStride, one, oneStride, rows, fields, dim, acc]);
      }),
    ),
    { numRuns: 300 },
  );
});

t.test('fmPairsF32 is the sum of all pairs of dot products', async (t) => {
  const next = stream(4);
  const [fields, dim] = [26, 16];
  const x = Float32Array.from({ length: fields * dim }, () => next() - 0.5);
  let expected = 0;
  for (let a = 0; a < fields; a++)
    for (let b = a + 1; b < fields; b++) for (let c = 0; c < dim; c++) expected += x[a * dim + c]! * x[b * dim + c]!;
  h.scope(() => {
    const out = h.alloc(4);
    h.wasm.fmPairsF32(h.putF32(x), fields * dim, out, 1, 1, fields, dim, 0);
    t.ok(Math.abs(h.f32(out, 1)[0]! - expected) < 1e-4 * fields, `${h.f32(out, 1)[0]} is near ${expected}`);
  });
});
