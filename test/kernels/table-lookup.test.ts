import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { LOOKUP_CHUNK, LOOKUP_SCRATCH_BYTES } from '../../src/memory/table-layout.js';
import * as reference from '../../src/runtime/backends/reference/table-lookup.js';
import { stream } from './both.js';
import { KernelHarness } from './harness.js';
import { layTable, type SegmentShape, type TestTable } from './table-maker.js';

const HEAP_BYTES = 1 << 19;
const h = await KernelHarness.create(4 << 20);

/** A table of `dim` columns with rows for the `known` ids, over a heap of its own. */
function makeTable(dim: number, log2Partitions: number, known: readonly bigint[]): TestTable {
  const segment: SegmentShape = {
    ...{ dim, optimizer: 'sgd', initializer: 'uniform', retriever: 'raw', compressor: 'fp32' },
    ...{ rounds: false, varied: false, globalStep: 0 },
  };
  const table = layTable(h, { segments: [segment], log2Partitions }, HEAP_BYTES);
  h.wasm.tableUpsert(table.address, h.putI64(known), known.length, h.alloc(known.length * 4), 0);
  return table;
}

/** Dimensions around every width a kernel treats apart. */
const dim = fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(16, 32, 64, 100));
/** Bags of none, of few and of more than a chunk holds. */
const bag = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 * LOOKUP_CHUNK }) },
);
const common = {
  dim,
  log2Partitions: fc.constantFrom(0, 2, 6),
  gap: fc.integer({ min: 0, max: 5 }),
  seed: fc.integer(),
};

/** Runs both versions from the same memory and compares all they left but the scratch. */
function compare(begin: number, wasm: () => void, plain: () => void): void {
  const image = h.views.u8.slice(begin, h.arena.mark());
  wasm();
  const left = h.views.u8.slice(begin, h.arena.mark());
  h.views.u8.set(image, begin);
  plain();
  assert.ok(Buffer.compare(left, h.views.u8.slice(begin, h.arena.mark())) === 0, 'both left the same bytes');
}

t.test(
  'pooled lookups are those of the reference, whatever the width, the bags and the place of the first',
  async () => {
    const property = fc.property(
      fc.record({ ...common, bags: fc.array(bag, { maxLength: 80 }), start: fc.integer({ min: 0, max: 1000 }) }),
      ({ dim, log2Partitions, gap, seed, bags, start }) =>
        h.scope(() => {
          const next = stream(seed);
          const drawn = (count: number) => Array.from({ length: count }, () => BigInt(Math.floor(next() * 900) - 450));
          const scratch = h.alloc(LOOKUP_SCRATCH_BYTES);
          const begin = h.arena.mark();
          const table = makeTable(dim, log2Partitions, drawn(400));
          const splits = [start];
          for (const size of bags) splits.push(splits.at(-1)! + size);
          const ids = h.putI64(drawn(splits.at(-1)! - start));
          const stride = dim + gap;
          const out = h.putF32(new Float32Array(bags.length * stride).fill(7));
          const args = [table.address, ids, h.putI32(splits), bags.length, out, stride, scratch] as const;
          compare(
            begin,
            () => h.wasm.tableLookupSumF32(...args),
            () => reference.tableLookupSumF32(h.views, ...args),
          );
        }),
    );
    fc.assert(property, { numRuns: 80 });
  },
);

t.test('gathered rows are those of the reference', async () => {
  const property = fc.property(
    fc.record({ ...common, n: fc.integer({ min: 0, max: 3 * LOOKUP_CHUNK }) }),
    ({ dim, log2Partitions, gap, seed, n }) =>
      h.scope(() => {
        const next = stream(seed);
        const drawn = (count: number) => Array.from({ length: count }, () => BigInt(Math.floor(next() * 900) - 450));
        const scratch = h.alloc(LOOKUP_SCRATCH_BYTES);
        const begin = h.arena.mark();
        const table = makeTable(dim, log2Partitions, drawn(400));
        const stride = dim + gap;
        const out = h.putF32(new Float32Array(n * stride).fill(7));
        const args = [table.address, h.putI64(drawn(n)), n, out, stride, scratch] as const;
        compare(
          begin,
          () => h.wasm.tableGatherF32(...args),
          () => reference.tableGatherF32(h.views, ...args),
        );
      }),
  );
  fc.assert(property, { numRuns: 40 });
});
