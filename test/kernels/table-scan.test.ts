import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { placeInBuckets } from '../../src/memory/hash.js';
import { BUCKET_BYTES, SCAN_CURSOR } from '../../src/memory/table-layout.js';
import { stream } from './both.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';
import { layTable, type TestTable, twins } from './table-maker.js';

const h = await KernelHarness.create(8 << 20);
const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;

/** The id that mix64 makes `hash` of: its steps backwards. */
function idWithHash(hash: bigint): bigint {
  let x = hash ^ (hash >> 33n);
  x = BigInt.asUintN(64, x * 0x9cb4b2f8129337dbn);
  x ^= x >> 33n;
  x = BigInt.asUintN(64, x * 0x4f74430c22a54005n);
  return BigInt.asIntN(64, x ^ (x >> 33n));
}

/** Ids of all sizes and signs, some that differ in one byte alone, and some whose hashes differ in two middle bits. */
const ids = fc.uniqueArray(
  fc.oneof(
    fc.bigInt({ min: I64_MIN, max: I64_MAX }),
    fc.bigInt({ min: -300n, max: 300n }),
    fc.nat(255).map((byte) => (BigInt(byte) << 40n) + 5n),
    fc.constantFrom(I64_MIN, I64_MAX, 0n, -1n),
    fc.nat(7).map((bits) => idWithHash((BigInt(bits & 4) << 60n) | (BigInt(bits & 3) << 30n) | 5n)),
  ),
  { maxLength: 400 },
);

function tableOf(ids: readonly bigint[], log2Partitions: number): TestTable {
  const table = layTable(h, {
    segments: [
      {
        ...{ dim: 2, optimizer: 'sgd', initializer: 'zeros', retriever: 'raw', compressor: 'fp32' },
        ...{ rounds: false, varied: false, globalStep: 0 },
      },
    ],
    log2Partitions,
  });
  h.wasm.tableUpsert(table.address, h.putI64(ids), ids.length, h.alloc(ids.length * 4), 0);
  return table;
}

const idOf = (slot: number) => h.views.i64[(slot + (slot % BUCKET_BYTES)) / 8]!;
const slotsAt = (at: number, count: number) => [...h.views.u32.slice(at / 4, at / 4 + count)];

t.test('a scan gives every row of its partitions once, however often it is resumed', async () => {
  const property = fc.property(
    ids,
    fc.constantFrom(0, 2, 6),
    fc.integer({ min: 1, max: 90 }),
    fc.integer(),
    (ids, log2, limit, seed) =>
      h.scope(() => {
        const next = stream(seed);
        const begin = h.arena.mark();
        const table = tableOf(ids, log2);
        const removed = ids.filter(() => next() < 0.3);
        h.wasm.tableRemove(table.address, h.putI64(removed), removed.length);
        const middle = Math.floor(next() * (table.partitions + 1));
        const found: bigint[] = [];
        for (const [first, end] of [
          [0, middle],
          [middle, table.partitions],
        ] as const) {
          const [cursor, slots] = [h.putI32([first, 0]), h.alloc(limit * 4)];
          do {
            const args = [table.address, first, end, cursor, slots, limit];
            const count = Number(runPair(h, begin, h.wasm.tableScan, twins.tableScan, args));
            for (const slot of slotsAt(slots, count)) found.push(idOf(slot));
          } while (h.views.u32[cursor / 4 + SCAN_CURSOR.partition]! < end);
        }
        assert.deepEqual(new Set(found), new Set(ids.filter((id) => !removed.includes(id))));
        assert.equal(found.length, ids.length - removed.length);
      }),
  );
  fc.assert(property, { numRuns: 60 });
});

t.test('slots of a partition come in the order of the buckets of their ids, in an index of any size', async () => {
  const property = fc.property(
    ids,
    fc.constantFrom(0, 2),
    fc.integer({ min: 0, max: 30 }),
    fc.integer(),
    (ids, log2, bucketsLog2, seed) =>
      h.scope(() => {
        const next = stream(seed);
        const places = h.alloc(ids.length * 8);
        const begin = h.arena.mark();
        const table = tableOf(ids, log2);
        const removed = new Set(ids.filter(() => next() < 0.3));
        h.wasm.tableRemove(table.address, h.putI64([...removed]), removed.size);
        const slots = h.alloc(ids.length * 4);
        const place = (id: bigint) => placeInBuckets(id, bucketsLog2);
        const sorted: bigint[] = [];
        for (let p = 0; p < table.partitions; p++) {
          const rows = h.wasm.tableScan(table.address, p, p + 1, h.putI32([p, 0]), slots, ids.length);
          const args = [table.address, p, bucketsLog2, rows, slots, places];
          assert.equal(runPair(h, begin, h.wasm.slotsInOrder, twins.slotsInOrder, args), rows);
          const found = slotsAt(slots, rows).map(idOf);
          assert.deepEqual(
            found,
            [...found].sort((a, b) => (place(a) < place(b) ? -1 : 1)),
          );
          sorted.push(...found);
        }
        assert.deepEqual(new Set(sorted), new Set(ids.filter((id) => !removed.has(id))));
        assert.equal(sorted.length, ids.length - removed.size);
      }),
  );
  fc.assert(property, { numRuns: 100 });
});
