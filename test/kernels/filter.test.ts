import fc from 'fast-check';
import t from 'tap';
import {
  countingGeometry,
  type FilterGeometry,
  filterBytes,
  slidingGeometry,
  writeFilterHeader,
} from '../../src/memory/filter-layout.js';
import type { Views } from '../../src/memory/views.js';
import * as reference from '../../src/runtime/backends/reference/filter.js';
import type { FilterKernels } from '../../src/runtime/backends/wasm/calls/filter.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';

type Twins = {
  readonly [K in keyof FilterKernels]: (
    m: Views,
    ...args: Parameters<FilterKernels[K]>
  ) => ReturnType<FilterKernels[K]>;
};
const twins: Twins = reference;
const h = await KernelHarness.create(16 << 20);

function putFilter(geometry: FilterGeometry): number {
  const at = h.alloc(filterBytes(geometry));
  writeFilterHeader(h.views.u32, at, geometry);
  return at;
}

/** Few signatures over few cells: probing, sharing, sliding and running out of cells all happen. */
const id = fc.tuple(fc.nat(40), fc.nat(6)).map(([a, b]) => (BigInt(b) << 17n) + BigInt(a) + (BigInt(b % 3) << 48n));
const geometry = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 40 }), fc.constantFrom(1.5, 4), fc.constantFrom(1, 2))
    .map(([c, f, b]) => countingGeometry(c, f, b as 1 | 2)),
  fc.tuple(fc.constantFrom(1, 300, 500), fc.constantFrom(1, 7, 60)).map(([c, s]) => slidingGeometry(c, s)),
);

t.test('any sightings leave the same cells, heads and answers as the reference', async () => {
  fc.assert(
    fc.property(
      geometry,
      fc.array(id, { minLength: 1, maxLength: 400, size: 'max' }),
      fc.boolean(),
      fc.nat(5),
      (shape, ids, withCounts, threshold) =>
        h.scope(() => {
          const begin = h.arena.mark();
          const n = ids.length;
          const filter = putFilter(shape);
          const at = h.putI64(ids);
          const counts = withCounts ? h.putI32(ids.map((x) => Number(x % 20n))) : 0;
          const present = withCounts ? h.putI32(ids.map((x) => Number(x & 1n))) : 0;
          const thresholds = h.alloc(32768 * 4);
          h.views.u32.fill(threshold, thresholds / 4, thresholds / 4 + 2);
          const out = h.alloc(n * 4);
          runPair(h, begin, h.wasm.filterAdd, twins.filterAdd, [filter, at, counts, n, out]);
          runPair(h, begin, h.wasm.filterGet, twins.filterGet, [filter, at, n, out]);
          const args = [filter, at, counts, n, thresholds, present, out];
          runPair(h, begin, h.wasm.filterIds, twins.filterIds, args);
        }),
    ),
    { numRuns: 60 },
  );
});

t.test('chances fall as in the reference', async () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 2n ** 62n }),
      fc.integer({ min: 0, max: 9 }),
      fc.boolean(),
      (seed, threshold, equal) =>
        h.scope(() => {
          const begin = h.arena.mark();
          const n = 50;
          const generator = h.alloc(16);
          const ids = h.putI64(Array.from({ length: n }, (_, i) => BigInt(i)));
          const counts = h.putI32(Array.from({ length: n }, (_, i) => i % 4));
          const present = h.alloc(n);
          h.views.u8[present] = 1;
          const thresholds = h.putI32([threshold]);
          const chances = equal ? h.putF32([1 - 0.05 ** (1 / threshold)]) : 0;
          const out = h.alloc(n);
          runPair(h, begin, h.wasm.seedXorshift, twins.seedXorshift, [generator, seed]);
          const args = [generator, ids, counts, n, thresholds, chances, present, out];
          runPair(h, begin, h.wasm.filterByChance, twins.filterByChance, args);
          runPair(h, begin, h.wasm.nextXorshift, twins.nextXorshift, [generator]);
        }),
    ),
    { numRuns: 40 },
  );
});
