import fc from 'fast-check';
import t from 'tap';
import { runBoth } from './both.js';
import { blockSizes, type GemmSize, gemmSizes, layOut } from './gemm-cases.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

function multiply(size: GemmSize): void {
  h.scope(() => {
    const { begin, args, checkScratch } = layOut(h, size);
    runBoth(h, begin, 'gemmF32', args);
    checkScratch();
  });
}

t.test('gemmF32 equals the triple loop bit for bit, for any size, layout and alignment', async () => {
  fc.assert(fc.property(gemmSizes, multiply), { numRuns: 400 });
});

t.test('blocks of rows, columns and k leave no trace in the result', async () => {
  for (const size of blockSizes()) multiply(size);
});

t.test('the scratch of a product is enough for all smaller ones', async () => {
  const sides = fc.tuple(fc.nat(1200), fc.nat(1200), fc.nat(1200));
  const smaller = fc.tuple(sides, sides).map(([a, b]) => [a.map((side, i) => Math.min(side, b[i]!)), a] as const);
  const bytes = (size: readonly number[]) => h.wasm.gemmScratchBytes(...(size as [number, number, number])) >>> 0;
  fc.assert(
    fc.property(smaller, ([small, large]) => bytes(small) <= bytes(large)),
    {
      examples: [
        [
          [
            [300, 300, 512],
            [300, 300, 513],
          ],
        ],
      ],
    },
  );
});

t.test('NaN and infinity of one row do not leak into its neighbours in the tile', async (t) => {
  h.scope(() => {
    const a = h.putF32([Number.NaN, 1, 2, 3, Number.POSITIVE_INFINITY]);
    const b = h.putF32([1, 2, 3]);
    const c = h.alloc(15 * 4);
    h.wasm.gemmF32(a, 1, 1, b, 3, 1, c, 3, 5, 3, 1, 0, h.alloc(h.wasm.gemmScratchBytes(5, 3, 1)));
    const inf = Number.POSITIVE_INFINITY;
    t.same([...h.f32(c, 15)].slice(3), [1, 2, 3, 2, 4, 6, 3, 6, 9, inf, inf, inf]);
  });
});
