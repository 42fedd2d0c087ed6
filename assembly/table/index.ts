// The index of a partition: which row an id has. assembly/table.ts draws the layout.
import { V1 } from "../units";
import { PARTITION, ROW_FREE, ROW_REMOVED, SALTED, SEGMENTS, SLOT, TABLE } from "../generated/layouts";
import { mix64, mixSecretly, secretOf } from "../hash";
import { heapAlloc, heapFree } from "../heap";
import { heapOf } from "./shares";

@inline
export function partitionAt(table: usize, hash: u64): usize {
  const log2 = load<u32>(table, TABLE.partitionsLog2);
  const p: usize = log2 == 0 ? 0 : <usize>(hash >> (64 - <u64>log2));
  return <usize>load<u32>(table, TABLE.partitions) + (p << 6);
}

/** The partition of this number. */
@inline
export function partitionOf(table: usize, p: u32): usize {
  return <usize>load<u32>(table, TABLE.partitions) + (<usize>p << 6);
}

@inline
export function segmentAt(table: usize, s: u32): usize {
  return table + SEGMENTS + (<usize>s << 7);
}

/** Buckets of a partition that has an index. */
@inline
export function bucketsOf(partition: usize): u32 {
  return (load<u32>(partition, PARTITION.mask) & ~SALTED) + 1;
}

@inline
export function isSalted(partition: usize): bool {
  return load<i32>(partition, PARTITION.mask) < 0;
}

function saltedPlace(hash: u64): u32 {
  return <u32>mixSecretly(hash, secretOf());
}

/** Bytes from the begin of an index to the first bucket of a hash. */
@inline
export function bucketOffset(mask: u32, hash: u64): u32 {
  let place = <u32>hash;
  if (<i32>mask < 0) place = saltedPlace(hash);
  return (place & mask) << 6;
}

/**
 * First bucket of a hash. A partition without an index has address and mask 0: the null page reads as a free bucket.
 */
@inline
export function bucketOf(partition: usize, hash: u64): usize {
  return <usize>load<u32>(partition, PARTITION.index) + <usize>bucketOffset(load<u32>(partition, PARTITION.mask), hash);
}

@inline
export function nextBucket(partition: usize, bucket: usize): usize {
  const index = <usize>load<u32>(partition, PARTITION.index);
  return index + ((bucket + 64 - index) & ((<usize>load<u32>(partition, PARTITION.mask) << 6) | 63));
}

/** Bit per slot of the bucket that holds `key` and a row. */
@inline
export function hitsOf(bucket: usize, key: v128): i32 {
  return idBits(bucket, key) & i32x4.bitmask(i32x4.gt_u(v128.load(bucket, SLOT.row), i32x4.splat(ROW_REMOVED)));
}

@inline
export function freeSlots(bucket: usize): i32 {
  return i32x4.bitmask(i32x4.eq(v128.load(bucket, SLOT.row), i32x4.splat(ROW_FREE)));
}

@inline
function removedSlots(bucket: usize): i32 {
  return i32x4.bitmask(i32x4.eq(v128.load(bucket, SLOT.row), i32x4.splat(ROW_REMOVED)));
}

/** Bit per slot of the bucket that holds `key`, be it of a row, of a removed one or of none. */
@inline
export function idBits(bucket: usize, key: v128): i32 {
  const low = i64x2.eq(v128.load(bucket), key);
  const high = i64x2.eq(v128.load(bucket, V1), key);
  return i32x4.bitmask(v128.shuffle<i32>(low, high, 0, 2, 4, 6));
}

@inline
export function hitSlot(bucket: usize, bits: i32): usize {
  return bucket + (<usize>ctz(bits) << 2);
}

/** Slot of `id`, looked for from `bucket` on, or 0. */
export function probe(partition: usize, bucket: usize, id: i64): usize {
  const key = i64x2.splat(id);
  let b = bucket;
  let hit = hitsOf(b, key);
  while (hit == 0 && freeSlots(b) == 0) {
    b = nextBucket(partition, b);
    hit = hitsOf(b, key);
  }
  return hit != 0 ? hitSlot(b, hit) : 0;
}

/** The same for callers in a hurry: what the first bucket tells is found without a call. */
@inline
export function slotOf(partition: usize, bucket: usize, id: i64): usize {
  const rows = v128.load(bucket, SLOT.row);
  const hit = idBits(bucket, i64x2.splat(id)) & i32x4.bitmask(i32x4.gt_u(rows, i32x4.splat(ROW_REMOVED)));
  let slot: usize = 0;
  if (hit != 0) slot = hitSlot(bucket, hit);
  else if (i32x4.all_true(rows)) slot = probe(partition, nextBucket(partition, bucket), id);
  return slot;
}

/** Slot of `id`, or 0. */
export function findSlot(table: usize, id: i64): usize {
  const hash = mix64(<u64>id);
  const partition = partitionAt(table, hash);
  return probe(partition, bucketOf(partition, hash), id);
}

/** Puts an id with row and time of the slot `from` into a free slot of `bucket` or of the next that has one. */
@inline
function putFrom(partition: usize, bucket: usize, id: i64, from: usize): void {
  let free = freeSlots(bucket);
  while (free == 0) {
    bucket = nextBucket(partition, bucket);
    free = freeSlots(bucket);
  }
  putInto(bucket, free, id, load<u32>(from, SLOT.row), load<u32>(from, SLOT.time));
}

/** Puts (id, row, time) into the first of the free slots of a bucket, and returns it. */
@inline
function putInto(bucket: usize, free: i32, id: i64, row: u32, time: u32): usize {
  const slot = hitSlot(bucket, free);
  store<i64>(slot + (slot - bucket), id);
  store<u32>(slot, row, SLOT.row);
  store<u32>(slot, time, SLOT.time);
  return slot;
}

/**
 * Slots that partition `p` fills before its index grows: 70 to 83 of 100. Few enough that probing stays within one or
 * two lines, and not the same for all partitions: a hash fills them alike, and they would all grow in one step.
 */
@inline
export function slotLimit(p: u32, buckets: u32): u32 {
  return <u32>((<u64>buckets * (720 + 2 * p)) >> 8);
}

/**
 * Makes room for one more id in a partition. The index doubles, or is made anew at its size when removed ids fill it.
 * False when the heap is full.
 */
export function reserveSlot(table: usize, partition: usize): bool {
  const index = <usize>load<u32>(partition, PARTITION.index);
  const buckets: u32 = index == 0 ? 0 : bucketsOf(partition);
  const taken = load<u32>(partition, PARTITION.slotsTaken) + 1;
  if (taken <= slotLimit(<u32>((partition - <usize>load<u32>(table, TABLE.partitions)) >> 6), buckets)) return true;
  const rows = load<u32>(partition, PARTITION.rows) + 1;
  const wanted: u32 = buckets == 0 ? 1 : rows * 8 > buckets * 12 ? buckets << 1 : buckets;
  if (rebuildIndex(table, partition, wanted, load<u32>(partition, PARTITION.mask) & SALTED)) return true;
  // Without room to grow an index may fill up, which makes it slow, but for one slot in sixteen, where probes end.
  return buckets != 0 && taken <= (buckets << 2) - max<u32>(1, buckets >> 2);
}

/**
 * A slot of a removed id that an absent id of this hash may have, or 0. By a secret it would depend on chance when an
 * index has to be made anew, and so what a full memory has room for.
 */
export function removedPlace(partition: usize, hash: u64): usize {
  // Where no slot is of a removed id, there is nothing to look for.
  if (load<u32>(partition, PARTITION.slotsTaken) == load<u32>(partition, PARTITION.rows)) return 0;
  if (isSalted(partition)) return 0;
  let bucket = bucketOf(partition, hash);
  let removed = removedSlots(bucket);
  while (removed == 0 && freeSlots(bucket) == 0) {
    bucket = nextBucket(partition, bucket);
    removed = removedSlots(bucket);
  }
  return removed != 0 ? hitSlot(bucket, removed) : 0;
}

/** Puts (id, row) into a slot, with time 0. */
export function fillSlot(slot: usize, id: i64, row: u32): void {
  store<i64>((slot << 1) - (slot & ~63), id);
  store<u32>(slot, row, SLOT.row);
  store<u32>(slot, 0, SLOT.time);
}

const PAGE_BYTES: usize = 4096;

function rebuildIndex(table: usize, partition: usize, buckets: u32, salted: u32): bool {
  const heap = heapOf(table, partition);
  const old = <usize>load<u32>(partition, PARTITION.index);
  const oldBuckets: u32 = old == 0 ? 0 : bucketsOf(partition);
  const index = heapAlloc(heap, buckets << 6);
  if (index == 0) return false;
  // A page that is read before it is written is mapped twice, the second time with word to all other threads' cores.
  for (let page = index, last = index + (<usize>buckets << 6); page < last; page += PAGE_BYTES) store<u32>(page, 0);
  store<u32>(partition, <u32>index, PARTITION.index);
  store<u32>(partition, (buckets - 1) | salted, PARTITION.mask);
  store<u32>(partition, load<u32>(partition, PARTITION.rows), PARTITION.slotsTaken);
  const mask = (buckets - 1) | salted;
  const end = old + (<usize>oldBuckets << 6);
  for (let b = old; b < end; b += 64) {
    let filled = i32x4.bitmask(i32x4.gt_u(v128.load(b, SLOT.row), i32x4.splat(ROW_REMOVED)));
    for (; filled != 0; filled &= filled - 1) {
      const i = <usize>ctz(filled);
      const id = load<i64>(b + (i << 3));
      const from = b + (i << 2);
      putFrom(partition, index + <usize>bucketOffset(mask, mix64(<u64>id)), id, from);
    }
  }
  if (old != 0) heapFree(heap, old, oldBuckets << 6);
  return true;
}

/**
 * Full buckets in a row that natural ids do not make: at 83 of 100 slots taken, the most there are before an index
 * grows, a given bucket begins such a row once in 10^11 times. Fewer buckets than these are never too slow to walk.
 */
const CROWD: u32 = 384;

/** Every so many buckets, one that is filled looks at those around it though it closes no gap. */
const MARK: u32 = 16;

/**
 * Whether `bucket`, which has just been filled, and the full buckets around it are a crowd. Crowds come about by a
 * bucket between two full ones, or grow at their ends past a mark: others need not look. No crowd goes on for a mark
 * unseen.
 */
function makesCrowd(partition: usize, bucket: usize): bool {
  const index = <usize>load<u32>(partition, PARTITION.index);
  const last = (<usize>bucketsOf(partition) << 6) - 64;
  let next = nextBucket(partition, bucket);
  let before = index + ((bucket - index - 64) & last);
  const isMark = ((bucket - index) & ((<usize>MARK << 6) - 1)) == 0;
  if (!isMark && (freeSlots(next) != 0 || freeSlots(before) != 0)) return false;
  let full: u32 = 1;
  for (; full < CROWD && freeSlots(next) == 0; full++) next = nextBucket(partition, next);
  for (; full < CROWD && freeSlots(before) == 0; full++) before = index + ((before - index - 64) & last);
  return full >= CROWD;
}

/**
 * Whether ids meet that were made to: the last one, in `bucket`, is far from its first bucket, or makes a crowd, which
 * those who ask for an absent id would walk through. It depends on ids and their order alone.
 */
function isFlooded(partition: usize, first: usize, bucket: usize, isFilled: bool): bool {
  const mask = load<u32>(partition, PARTITION.mask);
  if (<i32>mask < 0 || mask < CROWD) return false;
  if (((bucket - first) & (<usize>mask << 6)) >= <usize>CROWD << 6) return true;
  return isFilled && makesCrowd(partition, bucket);
}

/**
 * Makes a flooded index anew with buckets by the secret, if the heap has room for it; one that is too full because it
 * could not grow would be as slow again and stays. False when it stays.
 */
function saltIndex(table: usize, partition: usize): bool {
  const buckets = bucketsOf(partition);
  const p = <u32>((partition - <usize>load<u32>(table, TABLE.partitions)) >> 6);
  if (load<u32>(partition, PARTITION.slotsTaken) > slotLimit(p, buckets)) return false;
  return rebuildIndex(table, partition, buckets, SALTED);
}

/**
 * Puts (id, row), with time 0, into an index that has a free slot, and returns the slot. Most ids go to their first
 * bucket and leave room there: nothing is to be tested then. The slots that were free are known, and not read again
 * behind the store.
 */
export function insertId(table: usize, partition: usize, hash: u64, id: i64, row: u32): usize {
  const first = bucketOf(partition, hash);
  let bucket = first;
  let free = freeSlots(bucket);
  while (free == 0) {
    bucket = nextBucket(partition, bucket);
    free = freeSlots(bucket);
  }
  const slot = putInto(bucket, free, id, row, 0);
  const isFilled = (free & (free - 1)) == 0;
  if (!isFilled && bucket == first) return slot;
  if (!isFlooded(partition, first, bucket, isFilled) || !saltIndex(table, partition)) return slot;
  return probe(partition, bucketOf(partition, hash), id);
}
