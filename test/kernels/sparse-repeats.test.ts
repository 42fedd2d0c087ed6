import fc from 'fast-check';
import t from 'tap';
import * as reference from '../../src/runtime/backends/reference/sparse.js';
import { KernelHarness } from './harness.js';

t.test('numberRepeatsU32 gives the numbers of the reference, whatever its map held before', async () => {
  const h = await KernelHarness.create(4 << 20);
  const cases = fc.record({
    rows: fc.integer({ min: 0, max: 60 }),
    columns: fc.integer({ min: 1, max: 4 }),
    ids: fc.constantFrom(1, 2, 30),
    spare: fc.integer({ min: 0, max: 3 }),
    seed: fc.array(fc.nat(1000), { minLength: 240, maxLength: 240 }),
  });
  fc.assert(
    fc.property(cases, ({ rows, columns, ids, spare, seed }) =>
      h.scope(() => {
        const stride = rows + spare;
        const inverse = h.putI32(seed.slice(0, rows * columns).map((value) => value % ids));
        const map = h.putI32(seed.slice(0, ids));
        const outputs = [stride * columns, stride * columns, (stride + 2) * columns, columns].map((words) => ({
          at: h.alloc(words * 4),
          words,
        }));
        const [numbers, order, starts, counts] = outputs.map(({ at }) => at) as [number, number, number, number];
        const args = [inverse, columns, rows, map, numbers, order, starts, stride, counts] as const;
        const after = (run: () => void) => {
          for (const { at, words } of outputs) h.views.u32.fill(0, at / 4, at / 4 + words);
          run();
          // Behind the last start one word is left over.
          for (let j = 0; j < columns; j++) {
            const count = h.views.u32[counts / 4 + j]!;
            h.views.u32[starts / 4 + j * (stride + 2) + count + 1] = 0;
          }
          return outputs.map(({ at, words }) => [...h.i32(at, words)]);
        };
        const wasm = after(() => h.wasm.numberRepeatsU32(...args));
        const plain = after(() => reference.numberRepeatsU32(h.views, ...args));
        if (JSON.stringify(wasm) !== JSON.stringify(plain)) throw new Error(`${wasm} is not ${plain}`);
      }),
    ),
    { numRuns: 200 },
  );
});
