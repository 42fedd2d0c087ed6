import assert from 'node:assert/strict';
import t from 'tap';
import { mix64BigInt, placeInBuckets } from '../../src/memory/hash.js';
import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  bucketsOfMask,
  PARTITION,
  PARTITION_BYTES,
  ROW_FREE,
  SALTED,
  SLOT,
  TABLE,
} from '../../src/memory/table-layout.js';
import { idsOfOneBucket, idsWithoutGaps, keyOfMix, longestRun } from '../sparse/colliding-keys.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';
import { layTable, type TestTable, twins } from './table-maker.js';

const h = await KernelHarness.create(32 << 20);
const LOG2_PARTITIONS = 6;
/** The partition of flooding ids. */
const FLOODED = 5;
const IDS = 6000;

/** Full buckets in a row: the limit is 384, and it may be noticed 16 later. */
const RUN_MAX = 400;

function tableOf(heapBytes = 1 << 20): TestTable {
  const segment = { dim: 2, optimizer: 'sgd', initializer: 'zeros', retriever: 'raw', compressor: 'fp32' } as const;
  const segments = [{ ...segment, rounds: false, varied: false, globalStep: 0 }];
  return layTable(h, { segments, log2Partitions: LOG2_PARTITIONS, heapBytes });
}

const wordsOf = ({ address }: TestTable, p: number) =>
  (h.views.u32[address / 4 + TABLE.partitions]! + p * PARTITION_BYTES) / 4;
const isSalted = (table: TestTable, p: number) => h.views.u32[wordsOf(table, p) + PARTITION.mask]! >= SALTED;
const idOf = (slot: number) => h.views.i64[(slot + (slot % BUCKET_BYTES)) / 8]!;

/** Marks come first, then what is between them, but for a gap in each. */
function gapOf(id: bigint): number {
  const bucket = Number(mix64BigInt(id) & 15n);
  return bucket === 0 ? 0 : bucket === 9 ? 2 : 1;
}

/** Buckets that a probe in partition `p` may visit. */
function longestWalk(table: TestTable, p: number): number {
  const { u32 } = h.views;
  const partition = wordsOf(table, p);
  const index = u32[partition + PARTITION.index]!;
  return longestRun(bucketsOfMask(u32[partition + PARTITION.mask]!), (bucket) => {
    const at = (index + bucket * BUCKET_BYTES + SLOT.row) / 4;
    return !u32.subarray(at, at + BUCKET_SLOTS).includes(ROW_FREE);
  });
}

/** Kernel and twin put `ids` into `table`. */
function upsert(table: TestTable, begin: number, ids: readonly bigint[]): number {
  const args = [table.address, h.putI64(ids), ids.length, h.alloc(ids.length * 4), 0];
  return Number(runPair(h, begin, h.wasm.tableUpsert, twins.tableUpsert, args));
}

for (const [what, make] of [
  ['of one bucket', idsOfOneBucket],
  ['that leave no gap', idsWithoutGaps],
  ['that close gaps last', (count: number) => idsWithoutGaps(count).sort((a, b) => gapOf(a) - gapOf(b))],
  ['that leave no gap, last bucket first', (count: number) => idsWithoutGaps(count).reverse()],
] as const) {
  t.test(`ids ${what} do not make walks long, in the kernel and its twin alike`, async (t) => {
    h.scope(() => {
      const begin = h.arena.mark();
      const table = tableOf();
      const ids = make(IDS);
      t.equal(upsert(table, begin, ids), IDS);
      t.ok(isSalted(table, FLOODED));
      t.ok(longestWalk(table, FLOODED) <= RUN_MAX, `${longestWalk(table, FLOODED)} buckets`);

      const [at, out] = [h.putI64(ids), h.alloc(IDS)];
      const found = [table.address, at, IDS, out];
      t.equal(runPair(h, begin, h.wasm.tableContains, twins.tableContains, found), IDS);
      t.equal(runPair(h, begin, h.wasm.tableRemove, twins.tableRemove, [table.address, at, IDS / 2]), IDS / 2);
      t.equal(upsert(table, begin, ids), IDS, 'rows are made again');
      t.equal(h.views.u32[wordsOf(table, FLOODED) + PARTITION.rows], IDS);
      t.ok(longestWalk(table, FLOODED) <= RUN_MAX, `${longestWalk(table, FLOODED)} buckets after removals`);
      const rows = h.alloc(IDS * 4);
      t.equal(runPair(h, begin, h.wasm.tableFind, twins.tableFind, [table.address, at, IDS, rows, 0]), IDS);
      h.wasm.tableClear(table.address, 0, table.partitions);
      t.notOk(isSalted(table, FLOODED), 'a table that was cleared begins anew');
    });
  });

  t.test(`files of ids ${what} have the order of all files`, async () => {
    h.scope(() => {
      const ids = make(IDS);
      const [places, slots] = [h.alloc(IDS * 8), h.alloc(IDS * 4)];
      const table = tableOf();
      h.wasm.tableUpsert(table.address, h.putI64(ids), IDS, h.alloc(IDS * 4), 0);
      for (const bucketsLog2 of [0, 5, 11]) {
        assert.equal(h.wasm.slotsInOrder(table.address, FLOODED, bucketsLog2, IDS, slots, places), IDS);
        const found = Array.from(h.views.u32.slice(slots / 4, slots / 4 + IDS), idOf);
        const place = new Map(ids.map((id) => [id, placeInBuckets(id, bucketsLog2)]));
        assert.deepEqual(
          found,
          ids.toSorted((a, b) => (place.get(a)! < place.get(b)! ? -1 : 1)),
        );
      }
    });
  });

  t.test(`rows that are loaded may have ids ${what}`, async (t) => {
    h.scope(() => {
      const table = tableOf();
      const ids = h.putI64(make(IDS));
      h.wasm.reserveRows(table.address, FLOODED, IDS);
      const [times, rows] = [h.alloc(IDS * 4), h.alloc(IDS * 16)];
      t.equal(h.wasm.loadRows(table.address, ids, times, rows, 16, IDS, h.alloc(4096)), IDS);
      t.ok(longestWalk(table, FLOODED) <= RUN_MAX, `${longestWalk(table, FLOODED)} buckets`);
      t.equal(h.wasm.tableContains(table.address, ids, IDS, h.alloc(IDS)), IDS);
    });
  });
}

t.test('ids that nobody made leave every index as it is', async (t) => {
  h.scope(() => {
    const table = tableOf(8 << 20);
    // Up to the fullest that an index of 512 buckets may be, in all partitions.
    const ids = Array.from({ length: 100_000 }, (_, i) =>
      keyOfMix(BigInt.asUintN(64, BigInt(i) * 0xd1342543de82ef95n)),
    );
    t.equal(h.wasm.tableUpsert(table.address, h.putI64(ids), ids.length, h.alloc(ids.length * 4), 0), ids.length);
    for (let p = 0; p < table.partitions; p++) if (isSalted(table, p)) t.fail(`partition ${p} uses the secret`);
  });
});

t.test('without memory for another index a flooded table stays as it is, and right', async (t) => {
  let stayed = 0;
  for (const heapBytes of [96 << 10, 120 << 10, 140 << 10]) {
    h.scope(() => {
      const begin = h.arena.mark();
      const table = tableOf(heapBytes);
      const ids = idsOfOneBucket(2000);
      const handled = upsert(table, begin, ids);
      // An id in a first bucket that 384 full ones follow has made the table ask for memory.
      if (handled > 1600 && !isSalted(table, FLOODED)) stayed++;
      t.equal(h.wasm.tableContains(table.address, h.putI64(ids), ids.length, h.alloc(IDS)), handled, `${handled} rows`);
    });
  }
  t.ok(stayed > 0);
});
