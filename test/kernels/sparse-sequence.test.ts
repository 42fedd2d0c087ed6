import fc from 'fast-check';
import t from 'tap';
import * as reference from '../../src/runtime/backends/reference/sparse.js';
import { randomFloats, stream } from './both.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';

const h = await KernelHarness.create();

const cases = fc.record({
  lengths: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 6 }),
  first: fc.integer({ min: 0, max: 9 }),
  dim: fc.integer({ min: 1, max: 21 }),
  n: fc.integer({ min: 1, max: 5 }),
  pad: fc.integer({ min: 0, max: 3 }),
  seed: fc.integer(),
});

t.test('sequences of ids equal their references', async () => {
  fc.assert(
    fc.property(cases, ({ lengths, first, dim, n, pad, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const begin = h.arena.mark();
        const rows = lengths.length;
        const splits = [first];
        for (const length of lengths) splits.push(splits.at(-1)! + length);
        const values = splits.at(-1)! - first;
        const unique = 4;
        const table = h.putF32(randomFloats(next, unique * dim));
        const rowPtrs = h.putI32(Array.from({ length: unique }, (_, i) => table + i * dim * 4));
        const inverse = h.putI32(Array.from({ length: values }, () => Math.floor(next() * unique)));
        const at = h.putI32(splits);
        const stride = n * dim + pad;
        const out = h.putF32(randomFloats(next, rows * stride), 4);
        const ugrad = h.putF32(randomFloats(next, unique * (dim + pad)));
        runPair(h, begin, h.wasm.firstNF32, reference.firstNF32, [rowPtrs, inverse, at, rows, dim, n, out, stride]);
        runPair(h, begin, h.wasm.firstNGradF32, reference.firstNGradF32, [
          out,
          stride,
          inverse,
          at,
          rows,
          dim,
          n,
          ugrad,
          dim + pad,
          0,
        ]);
        runPair(h, begin, h.wasm.seqMaskF32, reference.seqMaskF32, [at, rows, n, out, stride]);
      }),
    ),
    { numRuns: 200 },
  );
});
