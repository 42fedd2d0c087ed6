/** @file Sums over many rows: blocks of WASM and of the reference are the same blocks. */
import t from 'tap';
import { randomFloats, runBoth, stream } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create(64 << 20);

for (const [rows, cols, pad] of [
  [63, 37, 0],
  [64, 16, 1],
  [65, 5, 0],
  [4096, 3, 2],
  [4097, 33, 0],
  [8300, 6, 0],
] as const) {
  t.test(`sums of ${rows} rows of ${cols} equal their references bit for bit`, async () => {
    h.scope(() => {
      const next = stream(rows);
      const begin = h.arena.mark();
      const stride = cols + pad;
      const [a, b] = [0, 1].map(() => h.putF32(randomFloats(next, rows * stride))) as [number, number];
      const [stats, dst] = [h.putF32(randomFloats(next, rows * 2)), h.putF32(randomFloats(next, cols))];
      runBoth(h, begin, 'sumRowsF32', [a, stride, dst, rows, cols, 0]);
      runBoth(h, begin, 'sumRowsF32', [a, stride, dst, rows, cols, 1]);
      runBoth(h, begin, 'preluSlopeGradF32', [a, stride, b, stride, dst, rows, cols]);
      runBoth(h, begin, 'layerNormGainGradF32', [a, stride, b, stride, stats, dst, rows, cols]);
      const period = cols % 3 === 0 ? cols / 3 : cols;
      runBoth(h, begin, 'sumSharedF32', [a, stride, b, stride, dst, rows, cols, period]);
      runBoth(h, begin, 'sumSharedF32', [a, stride, 0, 0, dst, rows, cols, period]);
    });
  });
}

for (const k of [511, 512, 513, 769, 2100]) {
  for (const [m, n] of [
    [1, 9],
    [17, 1],
    [6, 19],
  ] as const) {
    t.test(`a product of ${m} x ${n} over ${k} equals its reference bit for bit`, async () => {
      h.scope(() => {
        const next = stream(k + m);
        const begin = h.arena.mark();
        const [a, b, c] = [m * k, k * n, m * n].map((count) => h.putF32(randomFloats(next, count))) as [
          number,
          number,
          number,
        ];
        // Outside of what is compared, which ends where the arena does.
        const image = [c, n, m, n, k] as const;
        const scratch = 48 << 20;
        runBoth(h, begin, 'gemmF32', [a, k, 1, b, n, 1, ...image, 0, scratch]);
        runBoth(h, begin, 'gemmF32', [a, 1, m, b, n, 1, ...image, 1, scratch]);
      });
    });
  }
}
