import fc from 'fast-check';
import t from 'tap';
import { mix64 } from '../../src/memory/hash.js';
import {
  HEAP,
  PARTITION_BYTES,
  PARTITIONS,
  PARTITIONS_LOG2,
  TABLE,
  tableBytes,
} from '../../src/memory/table-layout.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { HeapModel, heapBlockBytes, PartitionModel, rowBytesOf } from '../../src/sparse/config/table-growth.js';
import { rowsThatFit, spreadRows, TABLE_BYTES_MAX, tableSize } from '../../src/sparse/config/table-size.js';

const GIB = 2 ** 30;
const CHUNK = 1 << 16;

/** Ids that look random and do not repeat: an odd multiplier permutes the 64-bit integers. */
function fillIds(ids: BigInt64Array, first: number, seed: bigint): void {
  for (let i = 0; i < ids.length; i++) ids[i] = BigInt(first + i) * 0x9e3779b97f4a7c15n + seed;
}

interface Filled {
  /** Bytes taken from the heap, its header, the table's control block and rows included. */
  readonly topBytes: number;
  /** The same, as the model of the allocations says for the very same ids. */
  readonly modelBytes: number;
}

/** Fills a table with `rows` random ids through the kernels. It has no segments: what rows start with takes no room. */
async function fillTable(rows: number, floats: number, seed: bigint): Promise<Filled> {
  const rowBytes = rowBytesOf(floats);
  const { banks } = await TableMemory.create({ budgetBytes: 64 * 2 ** 20 + rows * (rowBytes * 2 + 128) });
  const { views, kernels, heap } = banks[0]!;
  const table = kernels.heapAlloc(heap, tableBytes(1)) >>> 0;
  const partitions = kernels.heapAlloc(heap, PARTITION_BYTES * PARTITIONS) >>> 0;
  const zeroRow = kernels.heapAlloc(heap, rowBytes) >>> 0;
  const words = views.u32.subarray(table / 4);
  words[TABLE.partitionsLog2] = PARTITIONS_LOG2;
  words[TABLE.dim] = floats;
  words[TABLE.rowBytes] = rowBytes;
  words[TABLE.heap] = heap;
  words[TABLE.zeroRow] = zeroRow;
  words[TABLE.partitions] = partitions;

  const scratchBytes = heapBlockBytes(CHUNK * 12);
  const ids = kernels.heapAlloc(heap, CHUNK * 12) >>> 0;
  const model = new HeapModel();
  const parts = Array.from({ length: PARTITIONS }, (_, p) => new PartitionModel(p, rowBytes));
  const hash = new Uint32Array(2);
  for (let first = 0; first < rows; first += CHUNK) {
    const count = Math.min(CHUNK, rows - first);
    const chunk = views.i64.subarray(ids / 8, ids / 8 + count);
    fillIds(chunk, first, seed);
    const lanes = views.u32.subarray(ids / 4, ids / 4 + 2 * count);
    for (let i = 0; i < lanes.length; i += 2) {
      mix64(lanes[i]!, lanes[i + 1]!, hash);
      const part = parts[hash[1]! >>> (32 - PARTITIONS_LOG2)]!;
      part.growTo(part.rows + 1, model);
    }
    if (kernels.tableUpsert(table, ids, count, ids + CHUNK * 8, 0) !== count) throw new Error('the heap is full');
  }
  const controlBytes =
    192 + heapBlockBytes(tableBytes(1)) + heapBlockBytes(PARTITION_BYTES * PARTITIONS) + heapBlockBytes(rowBytes);
  const topBytes = views.u32[heap / 4 + HEAP.top]! - heap - scratchBytes;
  return { topBytes, modelBytes: model.topBytes + controlBytes };
}

const SHAPES = [
  { rows: 0, dim: 4, stateFloats: 0 },
  { rows: 1, dim: 1, stateFloats: 1 },
  { rows: 700, dim: 8, stateFloats: 8 },
  { rows: 10_000, dim: 1, stateFloats: 0 },
  { rows: 12_288, dim: 16, stateFloats: 16 }, // where indexes double
  { rows: 50_000, dim: 17, stateFloats: 18 },
  { rows: 98_304, dim: 4, stateFloats: 4 }, // where indexes double
  { rows: 100_000, dim: 64, stateFloats: 130 },
  { rows: 400_000, dim: 5, stateFloats: 2 },
  { rows: 1_000_000, dim: 8, stateFloats: 8 },
];

t.test('the size of a table is that of a real one', async (t) => {
  for (const shape of SHAPES) {
    const { rows, dim, stateFloats } = shape;
    const { topBytes, modelBytes } = await fillTable(rows, dim + stateFloats, 0x1234567n);
    const name = `${rows} rows of ${dim}+${stateFloats}`;
    t.equal(modelBytes, topBytes, `${name}: the allocations for these very ids`);
    const planned = tableSize(shape).totalBytes;
    const off = planned / topBytes - 1;
    if (rows >= 10_000) t.ok(Math.abs(off) < 0.05, `${name}: ${(off * 100).toFixed(2)} % off for any random ids`);
    else t.ok(Math.abs(planned - topBytes) <= 65536, `${name}: ${planned - topBytes} bytes off`);
  }
});

t.test('the parts of a size add up, whatever the shape', async (t) => {
  const shapes = fc.record({
    rows: fc.integer({ min: 1, max: 2_000_000 }),
    dim: fc.integer({ min: 1, max: 200 }),
    stateFloats: fc.integer({ min: 0, max: 402 }),
    threads: fc.integer({ min: 1, max: 64 }),
  });
  fc.assert(
    fc.property(shapes, (shape) => {
      const size = tableSize(shape);
      const parts = size.weightBytes + size.stateBytes + size.keyBytes + size.paddingBytes + size.spareBytes;
      t.equal(parts, size.totalBytes);
      t.ok(size.spareBytes >= 0 && size.paddingBytes >= 0 && size.paddingBytes < 16 * shape.rows);
      t.ok(size.peakBytes >= size.totalBytes && size.budgetBytes >= size.peakBytes);
      t.ok(size.nextGrowthRows > shape.rows);
      t.ok(size.keyBytes >= (shape.rows / 3.4) * 64, 'no index is more than 85 of 100 full');
      t.ok(tableSize({ ...shape, rows: shape.rows * 2 }).totalBytes > size.totalBytes);
    }),
    { numRuns: 40 },
  );
});

t.test('the spread over partitions has all rows and the deviation of a hash', async (t) => {
  for (const rows of [0, 1, 63, 64, 1000, 123_457, 10_000_000]) {
    const counts = spreadRows(rows);
    t.equal(counts.length, PARTITIONS);
    t.equal(
      counts.reduce((sum, count) => sum + count, 0),
      rows,
    );
    t.ok(counts.every((count) => Number.isInteger(count) && count >= 0));
  }
  const mean = 1_000_000 / PARTITIONS;
  const variance = spreadRows(1_000_000).reduce((sum, count) => sum + (count - mean) ** 2, 0) / PARTITIONS;
  t.ok(Math.abs(variance / mean - 1) < 0.05, `variance ${variance}`);
});

t.test('large tables take as many memories as TableMemory makes of their budget', async (t) => {
  const roomBytes = 2 ** 32 - 65536;
  for (const rows of [20e6, 40e6, 100e6, 200e6]) {
    const { banks, budgetBytes, totalBytes } = tableSize({ rows, dim: 17, stateFloats: 17, threads: 8 });
    t.equal(Math.ceil(budgetBytes / roomBytes), banks, `${rows} rows`);
    t.ok(totalBytes <= budgetBytes, `${rows} rows`);
  }
  t.equal(tableSize({ rows: 20e6, dim: 17, stateFloats: 17 }).banks, 1);
  t.equal(tableSize({ rows: 40e6, dim: 17, stateFloats: 17 }).banks, 2);
});

t.test('a table that cannot be is refused with the number of tables it takes', async (t) => {
  for (const shape of [
    { rows: 10e9, dim: 64, stateFloats: 64 },
    { rows: 10e9, dim: 1, stateFloats: 0 }, // the index of a partition would be 4 GiB
    { rows: TABLE_BYTES_MAX / 64, dim: 16, stateFloats: 0 }, // no room for keys
  ]) {
    t.throws(() => tableSize(shape), { code: 'ML_MEMORY', hint: /over \d+ tables or more/ });
  }
  t.ok(tableSize({ rows: 3e9, dim: 1, stateFloats: 0 }).banks <= PARTITIONS);
});

t.test('the rows that fit a budget do, and one in a hundred more do not', async (t) => {
  const shape = { dim: 16, stateFloats: 16 };
  for (const budgetBytes of [64 * 2 ** 20, GIB, 8 * GIB]) {
    const rows = rowsThatFit(shape, budgetBytes);
    t.ok(tableSize({ ...shape, rows }).budgetBytes <= budgetBytes);
    t.ok(tableSize({ ...shape, rows: Math.ceil(rows * 1.01) }).budgetBytes > budgetBytes);
  }
  t.equal(rowsThatFit(shape, 100), 0);
});
