/**
 * @file Walks the rows of a table in portions that can be taken up again (hash_table save_as_tensor).
 *
 * An offset counts slots from the first bucket of a shard, over the buckets of all partitions in turn. It stays good
 * for as long as nobody inserts: rows are given in the order of the index, not of their ids.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { EntryDumpCodec } from '../../io/entry-dump.js';
import { shardRange } from '../../io/shard-files.js';
import { BUCKET_BYTES, BUCKET_SLOTS, idWordOf, PARTITIONS, ROW_REMOVED, SLOT } from '../../memory/table-layout.js';
import type { HashTable } from '../table/hash-table.js';
import type { StoredTable, TableImage } from './stored-table.js';
import { tableImageOf } from './table-image-of.js';

/** As the reference: no limit that a table could reach. */
const DEFAULT_LIMIT = 2 ** 61;

export interface TablePortion {
  /** Where the next portion begins; behind the shard's last slot when there is no more. */
  readonly newOffset: number;
  /** Serialized EntryDump messages. Fewer than the limit = these were the last ones. */
  readonly dumps: Uint8Array[];
}

/**
 * At most `limit` rows of shard `shardIdx` of `numShards`, from slot `offset` on.
 *
 * ```ts
 * const { newOffset, dumps } = saveAsTensor(table, 0, 1, 1000, 0);
 * ```
 */
export function saveAsTensor(
  table: StoredTable | HashTable,
  shardIdx: number,
  numShards: number,
  limit = DEFAULT_LIMIT,
  offset = 0,
): TablePortion {
  const image = tableImageOf(table);
  if (image.isServing) throw new MonolithError('ML_TABLE_SERVING', { operation: 'Save' });
  const { begin, end } = bucketRange(image, shardIdx, numShards);
  const codec = new EntryDumpCodec(image.table.dumpSegments);
  const scratch = new Uint8Array(codec.maxBytes);
  const view = new DataView(scratch.buffer);
  const dumps: Uint8Array[] = [];
  let newOffset = (end - begin + 1) * BUCKET_SLOTS;
  for (const { slot, bank, place } of slotsFrom(image, begin * BUCKET_SLOTS + offset, end * BUCKET_SLOTS)) {
    if (dumps.length >= limit) break;
    const { u32, i64, f32 } = image.banks[bank]!.views;
    const row = u32[(slot + SLOT.row) / 4]! / 4;
    const entry = {
      id: i64[idWordOf(slot)]!,
      lastUpdateSec: u32[(slot + SLOT.time) / 4]!,
      weights: f32.subarray(row, row + image.dim),
      state: f32.subarray(row + image.dim, row + image.dim + image.stateFloats),
    };
    dumps.push(scratch.slice(0, codec.encode(entry, scratch, view, 0)));
    if (dumps.length === limit) newOffset = place + 1 - begin * BUCKET_SLOTS;
  }
  return { newOffset, dumps };
}

export interface IterateOptions {
  /** Ranges the table is cut into. Default: 1. */
  readonly nshards?: number;
  /** Rows per portion. Default: 1000. */
  readonly limit?: number;
}

/** All rows of the table in portions of serialized EntryDump messages; nobody may insert meanwhile. */
export function iterateTable(table: StoredTable | HashTable, options: IterateOptions = {}): Generator<Uint8Array[]> {
  return portions(table, checkOptions('iterateTable', options, ['nshards', 'limit']));
}

function* portions(table: StoredTable | HashTable, { nshards = 1, limit = 1000 }: IterateOptions) {
  for (let shard = 0; shard < nshards; shard++) {
    let offset = 0;
    for (let more = true; more; ) {
      const { newOffset, dumps } = saveAsTensor(table, shard, nshards, limit, offset);
      if (dumps.length > 0) yield dumps;
      offset = newOffset;
      more = dumps.length === limit;
    }
  }
}

/** Buckets of a shard, counted over all partitions. */
function bucketRange(image: TableImage, shardIdx: number, numShards: number): { begin: number; end: number } {
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;
  if (!isCount(shardIdx) || !isCount(numShards) || shardIdx >= numShards) {
    throw new MonolithError('ML_CKPT_SHARDS', { reason: `Shard ${shardIdx}exceeds ${numShards} for ${image.name}` });
  }
  let buckets = 0;
  for (let p = 0; p < PARTITIONS; p++) buckets += image.bucketsOf(p);
  return shardRange(buckets, shardIdx, numShards);
}

/** Slots of rows whose place among all slots is in [from, end). */
function* slotsFrom(image: TableImage, from: number, end: number) {
  let first = 0;
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const count = image.bucketsOf(partition) * BUCKET_SLOTS;
    const bank = image.bankOf(partition);
    const { u32 } = image.banks[bank]!.views;
    const index = image.indexOf(partition);
    for (let i = Math.max(0, from - first); i < Math.min(count, end - first); i++) {
      const slot = index + Math.floor(i / BUCKET_SLOTS) * BUCKET_BYTES + (i % BUCKET_SLOTS) * 4;
      if (u32[(slot + SLOT.row) / 4]! > ROW_REMOVED) yield { slot, bank, place: first + i };
    }
    first += count;
  }
}
