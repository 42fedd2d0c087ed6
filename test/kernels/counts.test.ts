/** @file Kernels of 64-bit integers of a batch: sums and largest values of slices, and what becomes of them. */
import t from 'tap';
import { TIME_UNKNOWN } from '../../src/memory/table-layout.js';
import * as twins from '../../src/runtime/backends/reference/counts.js';
import { stream } from './both.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';

const h = await KernelHarness.create();
const LOWEST = -(2n ** 63n);
const SPECIAL = [0n, 1n, -1n, LOWEST, 2n ** 63n - 1n, 2n ** 32n, -(2n ** 32n), 1_700_000_000n];

/** Columns of all lengths and strides, of numbers that fill 64 bits and of special ones. */
function forColumns(body: (values: bigint[], stride: number, begin: number) => void): void {
  const next = stream(5);
  const word = () => BigInt(Math.floor(next() * 2 ** 32));
  for (let rows = 0; rows <= 33; rows++) {
    for (const stride of [1, 3]) {
      h.scope(() => {
        const values = Array.from({ length: rows * stride }, () =>
          next() < 0.3 ? SPECIAL[Math.floor(next() * SPECIAL.length)]! : BigInt.asIntN(64, (word() << 32n) | word()),
        );
        body(values, stride, h.arena.mark());
      });
    }
  }
}

t.test('sumI64 and maxI64 take a column of any stride', async (t) => {
  forColumns((values, stride, begin) => {
    const [src, dst] = [h.putI64(values), h.putI64([77n])];
    const column = values.filter((_, i) => i % stride === 0);
    const rows = column.length;
    runPair(h, begin, h.wasm.sumI64, twins.sumI64, [src, stride, rows, dst]);
    t.equal(
      h.views.i64[dst / 8],
      BigInt.asIntN(
        64,
        column.reduce((a, b) => a + b, 0n),
      ),
    );
    runPair(h, begin, h.wasm.maxI64, twins.maxI64, [src, stride, rows, dst]);
    t.equal(
      h.views.i64[dst / 8],
      column.reduce((a, b) => (a > b ? a : b), LOWEST),
    );
  });
});

t.test('addSlicesI64 adds the parts to the counter', async (t) => {
  forColumns((values, stride, begin) => {
    const [parts, counter] = [h.putI64(values), h.putI64([2n ** 40n])];
    const column = values.filter((_, i) => i % stride === 0);
    runPair(h, begin, h.wasm.addSlicesI64, twins.addSlicesI64, [counter, parts, stride * 8, column.length]);
    t.equal(
      h.views.i64[counter / 8],
      BigInt.asIntN(
        64,
        column.reduce((a, b) => a + b, 2n ** 40n),
      ),
    );
  });
});

t.test('latestOfSlices is a time of 32 bits, or none', async (t) => {
  const cases: [bigint[], number][] = [
    [[], TIME_UNKNOWN],
    [[LOWEST, -1n], TIME_UNKNOWN],
    [[LOWEST, 0n], 0],
    [[100n, 1_700_000_000n, LOWEST, 5n], 1_700_000_000],
    [[2n ** 32n - 1n], TIME_UNKNOWN - 1],
    [[2n ** 40n], TIME_UNKNOWN - 1],
  ];
  for (const [values, wanted] of cases) {
    h.scope(() => {
      const parts = h.putI64(values.flatMap((value) => [value, 9n ** 20n % 2n ** 62n]));
      t.equal(h.wasm.latestOfSlices(parts, 16, values.length) >>> 0, wanted);
      t.equal(twins.latestOfSlices(h.views, parts, 16, values.length), wanted);
    });
  }
});
