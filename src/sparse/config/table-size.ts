/**
 * @file The bytes of a table before there is one: weights, optimizer state, keys, slack, and the memories they need.
 *
 * Which partition an id falls into is up to its hash, so sizes are those of a typical spread. Played through 40 times
 * with random ids for each of eight sizes from 10,000 to 786,432 rows, half of them where indexes double, the model of
 * the allocations came within 10 % of them, and within 5 % for rows of 8 and 34 floats. A test fills real tables, whose
 * heaps agree to the byte with that model for the same ids.
 */
import { MonolithError } from '../../base/errors.js';
import { MEMORY_BYTES_MAX, PAGE_BYTES } from '../../memory/shared-memory.js';
import {
  BUCKET_BYTES,
  HEAP_BLOCK_MAX,
  HEAP_HEADER_BYTES,
  PARTITION_BYTES,
  PARTITIONS,
  slotLimit,
  tableBytes,
} from '../../memory/table-layout.js';
import { growTogether, HeapModel, heapBlockBytes, rowBytesOf } from './table-growth.js';

export interface TableShape {
  readonly rows: number;
  /** Floats of a row's embedding, all segments together. */
  readonly dim: number;
  /** Words of optimizer state of a row, all segments together. */
  readonly stateFloats: number;
  /** Default: 1. */
  readonly segments?: number;
  /** Threads that may make an index grow at the same time. Default: 1. */
  readonly threads?: number;
}

export interface TableSize {
  readonly rowBytes: number;
  readonly weightBytes: number;
  readonly stateBytes: number;
  /** The index: ids, addresses of rows, times of the last update, and its free index slots. */
  readonly keyBytes: number;
  /** What makes a row a multiple of 16 bytes. */
  readonly paddingBytes: number;
  /** Room in the last blocks of rows, index arrays that were outgrown and wait to be used again, control blocks. */
  readonly spareBytes: number;
  /** All of the above. */
  readonly totalBytes: number;
  /** Total over weights and state. */
  readonly ratio: number;
  /** The most the heaps reach when `threads` indexes grow at the same moment. */
  readonly peakBytes: number;
  /** Memories of 4 GiB. */
  readonly banks: number;
  /** What to give TableMemory as its budget, so that the fullest bank holds its part. */
  readonly budgetBytes: number;
  /** Rows at which the indexes have doubled once more. */
  readonly nextGrowthRows: number;
}

/** What a bank offers besides the page that stays empty. */
const BANK_ROOM_BYTES = MEMORY_BYTES_MAX - PAGE_BYTES;
const HEADER_BYTES = Math.ceil(HEAP_HEADER_BYTES / 64) * 64;
/** The heap ends 64 bytes before the memory does. */
const BANK_USE_BYTES = BANK_ROOM_BYTES - 64;
/** A table ends where its last bank would: each has one partition then. */
export const TABLE_BYTES_MAX = PARTITIONS * BANK_USE_BYTES;
/** Keys of a row while its index is between half and three quarters full. */
const KEY_BYTES_TYPICAL = 28;
/**
 * The index of a partition must fit a request to the heap, with a little to spare for partitions that get more than
 * their share.
 */
export const TABLE_ROWS_MAX = Math.floor(0.999 * PARTITIONS * slotLimit(0, HEAP_BLOCK_MAX / BUCKET_BYTES));

/**
 * The size of a table.
 *
 * ```ts
 * tableSize({ rows: 10_000_000, dim: 17, stateFloats: 17 }).banks; // 1
 * ```
 *
 * ML_MEMORY when a table cannot be so large, with the number of tables of the same shape that would hold the rows.
 */
export function tableSize(shape: TableShape): TableSize {
  const { rows, dim, stateFloats, segments = 1, threads = 1 } = shape;
  const rowBytes = rowBytesOf(dim + stateFloats);
  const payloadBytes = rows * 4 * (dim + stateFloats);
  if (rows > TABLE_ROWS_MAX || rows * rowBytes > TABLE_BYTES_MAX) throw tooLarge(rows, rowBytes);
  const counts = spreadRows(rows);
  const controlBytes =
    heapBlockBytes(tableBytes(segments)) + heapBlockBytes(PARTITION_BYTES * PARTITIONS) + heapBlockBytes(rowBytes);
  const banksMin = Math.max(1, Math.ceil((rows * rowBytes) / BANK_ROOM_BYTES));
  for (let banks = banksMin; banks <= PARTITIONS; banks = banksWithFewerPartitions(banks)) {
    const sizes = Array.from({ length: banks }, (_, bank) => bankSize(counts, rowBytes, bank, banks, threads));
    const fullest = HEADER_BYTES + controlBytes + Math.max(...sizes.map((size) => size.topBytes + size.growthBytes));
    if (fullest > BANK_USE_BYTES) continue;
    const keyBytes = sum(sizes.map((size) => size.keyBytes));
    const totalBytes = sum(sizes.map((size) => size.topBytes)) + banks * (HEADER_BYTES + controlBytes);
    const paddingBytes = rows * rowBytes - payloadBytes;
    const growthBytes = Math.max(...sizes.map((size) => size.growthBytes));
    return {
      rowBytes,
      weightBytes: rows * 4 * dim,
      stateBytes: rows * 4 * stateFloats,
      keyBytes,
      paddingBytes,
      spareBytes: totalBytes - payloadBytes - paddingBytes - keyBytes,
      totalBytes,
      ratio: totalBytes / payloadBytes,
      peakBytes: totalBytes + growthBytes,
      banks,
      // One byte more than the room of one bank less, or TableMemory would make do with one bank less.
      budgetBytes: Math.max(banks * fullest, (banks - 1) * BANK_ROOM_BYTES + 1),
      nextGrowthRows: nextGrowthRows(rows),
    };
  }
  throw tooLarge(rows, rowBytes);
}

/** The most rows of a shape that fit `budgetBytes`, to 1 in 200, or 0. */
export function rowsThatFit(shape: Omit<TableShape, 'rows'>, budgetBytes: number): number {
  const fits = (rows: number): boolean => {
    try {
      return tableSize({ ...shape, rows }).budgetBytes <= budgetBytes;
    } catch (error) {
      if (error instanceof MonolithError && error.code === 'ML_MEMORY') return false;
      throw error;
    }
  };
  let low = 0;
  let high = Math.floor(budgetBytes / rowBytesOf(shape.dim + shape.stateFloats)) + 1;
  while (high - low > Math.max(1, low / 200)) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** The least number of banks whose fullest has fewer partitions than the fullest of `banks`; 65 when there is none. */
function banksWithFewerPartitions(banks: number): number {
  const most = Math.ceil(PARTITIONS / banks);
  return most === 1 ? PARTITIONS + 1 : Math.ceil(PARTITIONS / (most - 1));
}

interface BankSize {
  readonly topBytes: number;
  readonly keyBytes: number;
  /** What other threads' growing indexes may add for a moment. */
  readonly growthBytes: number;
}

function bankSize(counts: readonly number[], rowBytes: number, bank: number, banks: number, threads: number): BankSize {
  const heap = new HeapModel();
  const own = counts.map((_, partition) => partition).filter((partition) => partition % banks === bank);
  const rowCounts = own.map((partition) => counts[partition]!);
  const partitions = growTogether(rowCounts, own, rowBytes, heap);
  const oldIndex = Math.max(0, ...partitions.map((partition) => partition.oldIndexBytes));
  return {
    topBytes: heap.topBytes,
    keyBytes: sum(partitions.map((partition) => partition.indexBytes)),
    growthBytes: (Math.min(threads, own.length) - 1) * oldIndex,
  };
}

/**
 * Rows of each partition when a hash spreads them: the quantiles of the normal distribution that 64 counts come near
 * to, in an order that has nothing to do with the shares at which partitions grow. The sum is `rows`.
 */
export function spreadRows(rows: number): number[] {
  const mean = rows / PARTITIONS;
  const deviation = Math.sqrt(mean * (1 - 1 / PARTITIONS));
  let given = 0;
  let exact = 0;
  return Array.from({ length: PARTITIONS }, (_, p) => {
    exact += Math.max(0, mean + deviation * normalQuantile((rankOf(p) + 0.5) / PARTITIONS));
    const count = p === PARTITIONS - 1 ? rows - given : Math.min(rows - given, Math.round(exact) - given);
    given += count;
    return count;
  });
}

/** The bits of a partition's number, the other way round. */
function rankOf(partition: number): number {
  let rank = 0;
  for (let bit = 1; bit < PARTITIONS; bit *= 2) rank = rank * 2 + (partition & bit ? 1 : 0);
  return rank;
}

/** Tukey's approximation; good to 1 in 100 where it is used. */
function normalQuantile(share: number): number {
  return 4.91 * (share ** 0.14 - (1 - share) ** 0.14);
}

function nextGrowthRows(rows: number): number {
  let buckets = 1;
  while (slotLimit(PARTITIONS - 1, buckets) * PARTITIONS <= rows) buckets *= 2;
  return slotLimit(PARTITIONS - 1, buckets) * PARTITIONS;
}

function tooLarge(rows: number, rowBytes: number): MonolithError {
  const bytes = Math.ceil(rows * (rowBytes + KEY_BYTES_TYPICAL));
  const tables = Math.max(2, Math.ceil(bytes / TABLE_BYTES_MAX), Math.ceil(rows / TABLE_ROWS_MAX));
  const hint = `spread the rows over ${tables} tables or more`;
  return new MonolithError('ML_MEMORY', { name: 'a table', bytes, free: TABLE_BYTES_MAX, tables }, { hint });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
