// Puts decoded rows into a table. Threads may load into one table at the same time: a partition is locked while rows of
// one run of ids go into it, and files that were saved here have the ids of a partition together.
import { LOAD_CHUNK, PARTITION, SLOT, TABLE } from "../generated/layouts";
import { mix64 } from "../hash";
import { heapAlloc } from "../heap";
import { lock, unlock } from "../sync";
import {
  bucketOf, freeSlots, hitSlot, hitsOf, insertId, partitionAt, partitionOf, probe, reserveSlot, slotLimit,
} from "../table/index";
import { heapOf } from "../table/shares";
import { newRow } from "../table/rows";

/**
 * Writes the hashes of a chunk of ids and brings their first buckets near. Another thread may be growing an index
 * meanwhile, so that where it is and how large may not fit together: the result is only a place to touch, and must lie
 * in memory.
 */
function touchFirst(table: usize, ids: usize, n: u32, hashes: usize): i32 {
  const last: u32 = (<u32>memory.size() << 16) - 64;
  const end = hashes + (<usize>n << 3);
  for (let at = hashes; at < end; at += 8, ids += 8) store<u64>(at, mix64(load<u64>(ids)));
  let touched: i32 = 0;
  for (let at = hashes; at < end; at += 8) {
    const hash = load<u64>(at);
    touched |= load<i32>(<usize>min(<u32>bucketOf(partitionAt(table, hash), hash), last));
  }
  return touched;
}

/** Slot of `id` with a row of any content; 0 when the heap is full. */
@inline
function slotFor(table: usize, partition: usize, hash: u64, id: i64): usize {
  const bucket = bucketOf(partition, hash);
  const hit = hitsOf(bucket, i64x2.splat(id));
  let slot = hitSlot(bucket, hit);
  if (hit == 0) slot = slotBeyond(table, partition, bucket, hash, id);
  return slot;
}

/** The same for an id that is not in its first bucket. */
@inline
function slotBeyond(table: usize, partition: usize, bucket: usize, hash: u64, id: i64): usize {
  const free = freeSlots(bucket);
  // With a free slot in the first bucket the id is nowhere else.
  const found = free != 0 ? 0 : probe(partition, bucket, id);
  if (found != 0) return found;
  if (!reserveSlot(table, partition)) return 0;
  const row = newRow(table, partition);
  if (row == 0) return 0;
  store<u32>(partition, load<u32>(partition, PARTITION.rows) + 1, PARTITION.rows);
  store<u32>(partition, load<u32>(partition, PARTITION.slotsTaken) + 1, PARTITION.slotsTaken);
  return insertId(table, partition, hash, id, <u32>row);
}

/**
 * Rows for ids[0..n), made when absent, with the given times and contents, `stride` bytes apart and as many as a row
 * has. Returns how many were handled: fewer than n = the heap is full. `scratch` has 4096 bytes.
 */
export function loadRows(
  table: usize, ids: usize, times: usize, rows: usize, stride: usize, n: u32, scratch: usize,
): u32 {
  const rowBytes = <usize>load<u32>(table, TABLE.rowBytes);
  let held: usize = 0;
  let done: u32 = 0;
  for (let start: u32 = 0; start < n; start += LOAD_CHUNK) {
    const end = min(start + LOAD_CHUNK, n);
    touchFirst(table, ids + (<usize>start << 3), end - start, scratch);
    for (let at = scratch; done < end; done++, at += 8) {
      const hash = load<u64>(at);
      const partition = partitionAt(table, hash);
      if (partition != held) {
        if (held != 0) unlock(held + PARTITION.lock);
        lock(partition + PARTITION.lock);
        held = partition;
      }
      const slot = slotFor(table, partition, hash, load<i64>(ids + (<usize>done << 3)));
      if (slot == 0) {
        unlock(held + PARTITION.lock);
        return done;
      }
      store<u32>(slot, load<u32>(times + (<usize>done << 2)), SLOT.time);
      const to = <usize>load<u32>(slot, SLOT.row);
      const from = rows + <usize>done * stride;
      for (let i: usize = 0; i < rowBytes; i += 16) v128.store(to + i, v128.load(from + i));
    }
  }
  if (held != 0) unlock(held + PARTITION.lock);
  return done;
}

/**
 * Gives a partition that has no index one for `rows` rows, if the heap has room: growing into it costs as much again.
 */
export function reserveRows(table: usize, partition: u32, rows: u32): void {
  const at = partitionOf(table, partition);
  if (load<u32>(at, PARTITION.index) != 0) return;
  let buckets: u32 = 1;
  while (slotLimit(partition, buckets) < rows) buckets <<= 1;
  const index = heapAlloc(heapOf(table, at), buckets << 6);
  if (index == 0) return;
  store<u32>(at, <u32>index, PARTITION.index);
  store<u32>(at, buckets - 1, PARTITION.mask);
}
