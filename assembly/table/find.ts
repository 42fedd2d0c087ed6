// Lookup of many ids at once. Chunks keep many cache misses in flight: hash all, touch all, probe all.
import { LINE, LONG, WORD } from "../units";
import { LOOKUP_CHUNK, PARTITION, ROW_REMOVED, SLOT, TABLE } from "../generated/layouts";
import { mix64 } from "../hash";
import { bucketOffset, hitSlot, idBits, nextBucket, partitionAt, probe } from "./index";

/**
 * Loads the word behind each pointer, so that the misses overlap. A loop that does nothing else: the
 * fewer instructions lie between two misses, the more of them the processor has under way. The result is of no use; a
 * load that may trap is not removed.
 */
function touch(pointers: usize, n: u32): i32 {
  let a: i32 = 0, b: i32 = 0;
  let p = pointers;
  const end = pointers + (<usize>(n & ~7) << 2);
  for (; p < end; p += 32) {
    a |= load<i32>(<usize>load<u32>(p)); b |= load<i32>(<usize>load<u32>(p, WORD));
    a |= load<i32>(<usize>load<u32>(p, 2 * WORD)); b |= load<i32>(<usize>load<u32>(p, 3 * WORD));
    a |= load<i32>(<usize>load<u32>(p, 4 * WORD)); b |= load<i32>(<usize>load<u32>(p, 5 * WORD));
    a |= load<i32>(<usize>load<u32>(p, 6 * WORD)); b |= load<i32>(<usize>load<u32>(p, 7 * WORD));
  }
  return a | b;
}

/** The same for rows of two whole lines. */
function touchPairs(pointers: usize, n: u32): i32 {
  let a: i32 = 0, b: i32 = 0;
  const end = pointers + (<usize>(n & ~3) << 2);
  for (let p = pointers; p < end; p += 16) {
    const p0 = <usize>load<u32>(p), p1 = <usize>load<u32>(p, WORD);
    const p2 = <usize>load<u32>(p, 2 * WORD), p3 = <usize>load<u32>(p, 3 * WORD);
    a |= load<i32>(p0) | load<i32>(p0, LINE); b |= load<i32>(p1) | load<i32>(p1, LINE);
    a |= load<i32>(p2) | load<i32>(p2, LINE); b |= load<i32>(p3) | load<i32>(p3, LINE);
  }
  return a | b;
}

/** The same for rows of a whole number of four lines. */
function touchFours(pointers: usize, n: u32, bytes: usize): i32 {
  let a: i32 = 0, b: i32 = 0;
  const end = pointers + (<usize>(n & ~1) << 2);
  for (let p = pointers; p < end; p += 8) {
    let p0 = <usize>load<u32>(p), p1 = <usize>load<u32>(p, WORD);
    const rowEnd = p0 + bytes;
    do {
      a |= load<i32>(p0) | load<i32>(p0, LINE) | load<i32>(p0, 2 * LINE) | load<i32>(p0, 3 * LINE);
      b |= load<i32>(p1) | load<i32>(p1, LINE) | load<i32>(p1, 2 * LINE) | load<i32>(p1, 3 * LINE);
      p0 += 256;
      p1 += 256;
    } while (p0 < rowEnd);
  }
  return a | b;
}

/**
 * Loads a word of every line of the rows behind the pointers, of `bytes` bytes each. Row by row, not line by line: the
 * lines of a row share a page, and where the page lies is the slowest part to find out. Rows are aligned when they fill
 * whole lines; others may end in one line more. Of common widths the last few rows are left out.
 */
export function touchLines(pointers: usize, n: u32, bytes: usize, aligned: bool): i32 {
  if (aligned) {
    if (bytes <= 64) return touch(pointers, n);
    if (bytes == 128) return touchPairs(pointers, n);
    if ((bytes & 255) == 0) return touchFours(pointers, n, bytes);
  }
  let a: i32 = 0, b: i32 = 0;
  const last = pointers + (<usize>n << 2);
  for (let p = pointers; p < last; p += 4) {
    let at = <usize>load<u32>(p);
    const end = at + bytes;
    for (; at + 192 < end; at += 256) {
      a |= load<i32>(at) | load<i32>(at, LINE);
      b |= load<i32>(at, 2 * LINE) | load<i32>(at, 3 * LINE);
    }
    if (at + 64 < end) {
      a |= load<i32>(at);
      b |= load<i32>(at, LINE);
      at += 128;
    }
    if (at < end) a |= load<i32>(at);
    if (!aligned) b |= load<i32>(end - 4);
  }
  return a | b;
}

/** Of the partitions of a table. */
@inline
export function partitionCount(table: usize): u64 {
  return (<u64>1) << <u64>load<u32>(table, TABLE.partitionsLog2);
}

/** The partition of a hash. Times the `count` of them, the upper half of a hash has its partition on top. */
@inline
function partitionFor(partitions: usize, count: u64, hash: u64): usize {
  return partitions + (<usize>(((hash >> 32) * count) >> 26) & ~63);
}

/** First bucket of an id. */
@inline
export function firstBucket(partitions: usize, count: u64, id: u64): u32 {
  const hash = mix64(id);
  const partition = partitionFor(partitions, count, hash);
  return load<u32>(partition, PARTITION.index) + bucketOffset(load<u32>(partition, PARTITION.mask), hash);
}

/** First bucket of an id in a partition that has none by the secret. */
@inline
function plainBucket(partitions: usize, count: u64, id: u64): u32 {
  const hash = mix64(id);
  const partition = partitionFor(partitions, count, hash);
  return load<u32>(partition, PARTITION.index) + ((<u32>hash & load<u32>(partition, PARTITION.mask)) << 6);
}

/** Whether no partition has its buckets by the secret. */
@inline
function arePlain(partitions: usize, count: u64): bool {
  let masks: u32 = 0;
  const end = partitions + (<usize>count << 6);
  for (let p = partitions; p < end; p += 64) masks |= load<u32>(p, PARTITION.mask);
  return <i32>masks >= 0;
}

/** From so many ids on, one look at all partitions is cheaper than a test for each id. */
const MANY: u32 = 128;

/** buckets[i] = first bucket of ids[i], brought near. */
export function touchBuckets(table: usize, ids: usize, n: u32, buckets: usize): void {
  const count = partitionCount(table);
  const partitions = <usize>load<u32>(table, TABLE.partitions);
  const end = buckets + (<usize>n << 2);
  let at = buckets;
  if (n >= MANY && arePlain(partitions, count)) {
    const fours = buckets + (<usize>(n & ~3) << 2);
    for (; at < fours; at += 16, ids += 32) {
      store<u32>(at, plainBucket(partitions, count, load<u64>(ids)));
      store<u32>(at, plainBucket(partitions, count, load<u64>(ids, LONG)), WORD);
      store<u32>(at, plainBucket(partitions, count, load<u64>(ids, 2 * LONG)), 2 * WORD);
      store<u32>(at, plainBucket(partitions, count, load<u64>(ids, 3 * LONG)), 3 * WORD);
    }
  }
  for (; at < end; at += 4, ids += 8) store<u32>(at, firstBucket(partitions, count, load<u64>(ids)));
  touch(buckets, n);
}

/**
 * Slot of `id`, or 0. Nearly always the first match of the first bucket; the walk is for what is absent or further on.
 */
@inline
export function slotFrom(table: usize, bucket: usize, id: i64): usize {
  const bits = idBits(bucket, i64x2.splat(id));
  let slot: usize = 0;
  if (bits != 0) slot = hitSlot(bucket, bits);
  // A slot of zero reads the null page, which holds no row.
  if (load<u32>(slot, SLOT.row) <= ROW_REMOVED) slot = probe(partitionAt(table, mix64(<u64>id)), bucket, id);
  return slot;
}

/**
 * at[0] = row of the id at `id`, if it is the first match of the bucket that at[0] names; else the bucket stays there
 * and `at` is listed. Returns the end of the list.
 */
@inline
function rowOrListed(at: usize, id: usize, list: usize): usize {
  const bucket = <usize>load<u32>(at);
  const bits = idBits(bucket, v128.load_splat<i64>(id));
  let row: u32 = 0;
  if (bits != 0) row = load<u32>(hitSlot(bucket, bits), SLOT.row);
  if (row > ROW_REMOVED) store<u32>(at, row);
  else {
    store<u32>(list, <u32>at);
    list += 4;
  }
  return list;
}

/** Brings the second buckets of listed ids near. The id of the address `at` is at idOf + 2 * at. */
function touchSecond(table: usize, idOf: usize, list: usize, end: usize): i32 {
  let seen: i32 = 0;
  for (; list < end; list += 4) {
    const at = <usize>load<u32>(list);
    const partition = partitionAt(table, mix64(load<u64>(idOf + (at << 1))));
    seen |= load<i32>(nextBucket(partition, <usize>load<u32>(at)));
  }
  return seen;
}

/** Rows of listed ids: those that are absent or further on. */
function findListed(table: usize, idOf: usize, list: usize, end: usize): void {
  const zeroRow = load<u32>(table, TABLE.zeroRow);
  for (; list < end; list += 4) {
    const at = <usize>load<u32>(list);
    const id = load<i64>(idOf + (at << 1));
    const slot = probe(partitionAt(table, mix64(<u64>id)), <usize>load<u32>(at), id);
    store<u32>(at, slot != 0 ? load<u32>(slot, SLOT.row) : zeroRow);
  }
}

/**
 * rows[i] = row of ids[i], or the table's zero row, for a chunk of ids. Behind the chunk is room for a list of them.
 */
export function findRows(table: usize, ids: usize, n: u32, rows: usize): void {
  touchBuckets(table, ids, n, rows);
  const end = rows + (<usize>n << 2);
  const fours = rows + (<usize>(n & ~3) << 2);
  const idOf = ids - (rows << 1);
  const list = rows + (LOOKUP_CHUNK << 2);
  let listEnd = list;
  let at = rows;
  for (; at < fours; at += 16) {
    listEnd = rowOrListed(at, ids, listEnd);
    listEnd = rowOrListed(at + 4, ids + 8, listEnd);
    listEnd = rowOrListed(at + 8, ids + 16, listEnd);
    listEnd = rowOrListed(at + 12, ids + 24, listEnd);
    ids += 32;
  }
  for (; at < end; at += 4) {
    listEnd = rowOrListed(at, ids, listEnd);
    ids += 8;
  }
  touchSecond(table, idOf, list, listEnd);
  findListed(table, idOf, list, listEnd);
}

/**
 * rows[i] = address of the row of ids[i], or of the table's zero row: an absent id reads as zeros and is not inserted.
 * slots[i] = its slot in the index, or 0; no slots are wanted when `slots` is 0. Returns the number of ids found.
 */
export function tableFind(table: usize, ids: usize, n: u32, rows: usize, slots: usize): u32 {
  const zeroRow = load<u32>(table, TABLE.zeroRow);
  let found: u32 = 0;
  for (let s: u32 = 0; s < n; s += LOOKUP_CHUNK) {
    const m = min(LOOKUP_CHUNK, n - s);
    const chunkIds = ids + (<usize>s << 3);
    const chunkRows = rows + (<usize>s << 2);
    touchBuckets(table, chunkIds, m, chunkRows);
    for (let i: u32 = 0; i < m; i++) {
      const at = chunkRows + (<usize>i << 2);
      const slot = slotFrom(table, <usize>load<u32>(at), load<i64>(chunkIds + (<usize>i << 3)));
      found += <u32>(slot != 0);
      store<u32>(at, slot != 0 ? load<u32>(slot, SLOT.row) : zeroRow);
      if (slots != 0) store<u32>(slots + (<usize>(s + i) << 2), <u32>slot);
    }
  }
  return found;
}
