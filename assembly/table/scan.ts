// Slots of a table, in the order of the index or of an index of a given size. For those who walk all rows.
import { PARTITION, ROW_REMOVED, SCAN_CURSOR, SLOT } from "../generated/layouts";
import { mix64 } from "../hash";
import { bucketsOf, isSalted, partitionOf } from "./index";
import { sortSlots } from "./sort";

/**
 * Writes the slots of rows of partitions [first, end), in the order of the index, from the cursor on and at most
 * `limit`. The cursor is two u32 words, partition and 4 * bucket + slot; it begins as (first, 0), is moved to the next
 * row, and is (end, 0) when there is none. It is good for as long as nobody inserts. Returns how many slots were
 * written.
 */
export function tableScan(table: usize, first: u32, end: u32, cursor: usize, slots: usize, limit: u32): u32 {
  let count: u32 = 0;
  const begin = max(first, load<u32>(cursor, SCAN_CURSOR.partition));
  let from: u32 = begin == load<u32>(cursor, SCAN_CURSOR.partition) ? load<u32>(cursor, SCAN_CURSOR.position) : 0;
  for (let p = begin; p < end; p++) {
    const partition = partitionOf(table, p);
    const index = <usize>load<u32>(partition, PARTITION.index);
    const places: u32 = index == 0 ? 0 : bucketsOf(partition) << 2;
    for (let place = from; place < places; place++) {
      const slot = index + (<usize>(place >> 2) << 6) + (<usize>(place & 3) << 2);
      if (load<u32>(slot, SLOT.row) <= ROW_REMOVED) continue;
      if (count == limit) {
        store<u32>(cursor, p, SCAN_CURSOR.partition);
        store<u32>(cursor, place, SCAN_CURSOR.position);
        return count;
      }
      store<u32>(slots + (<usize>count << 2), <u32>slot);
      count++;
    }
    from = 0;
  }
  store<u32>(cursor, end, SCAN_CURSOR.partition);
  store<u32>(cursor, 0, SCAN_CURSOR.position);
  return count;
}

/** Where the slot's id comes in the order of slotsInOrder. */
@inline
function placeOf(slot: usize, bucketsLog2: u64): u64 {
  return rotr<u64>(mix64(load<u64>(slot + (slot & 63))), bucketsLog2);
}

/** Puts a slot to its place among the `count` before it, which are in order. Most stay at the end. */
@inline
function settle(slots: usize, places: usize, count: u32, slot: usize, place: u64): void {
  let i = <usize>count;
  for (; i > 0; i--) {
    const before = load<u64>(places + (i << 3) - 8);
    if (before < place) break;
    store<u64>(places + (i << 3), before);
    store<u32>(slots + (i << 2), load<u32>(slots + (i << 2) - 4));
  }
  store<u64>(places + (i << 3), place);
  store<u32>(slots + (i << 2), <u32>slot);
}

/** slotsInOrder of an index whose own order is that of a secret. */
function sortedSlots(index: usize, buckets: u32, log2: u64, rows: u32, slots: usize, places: usize): u32 {
  const end = index + (<usize>buckets << 6);
  let count: u32 = 0;
  for (let bucket = index; bucket < end; bucket += 64) {
    for (let slot = bucket; slot < bucket + 16; slot += 4) {
      if (load<u32>(slot, SLOT.row) <= ROW_REMOVED) continue;
      if (count == rows) return count;
      store<u64>(places + (<usize>count << 3), placeOf(slot, log2));
      store<u32>(slots + (<usize>count << 2), <u32>slot);
      count++;
    }
  }
  sortSlots(slots, places, count);
  return count;
}

/**
 * Writes the slots of the `rows` rows of a partition, sorted by the bucket their ids have in an index of 2^bucketsLog2
 * buckets, and within it by the rest of the hash, so that what is written in this order does not depend on how the
 * table came to be, and whoever reads it walks through an index from its begin to its end. `places` has room for 8
 * bytes a row.
 *
 * An index has at least as many buckets, a power of two times as many: visited a turn at a time, its slots come almost
 * in order, and each has only a few to pass. Ids that found no room in the last buckets and went on at the first come
 * last.
 */
export function slotsInOrder(table: usize, p: u32, bucketsLog2: u32, rows: u32, slots: usize, places: usize): u32 {
  const partition = partitionOf(table, p);
  const index = <usize>load<u32>(partition, PARTITION.index);
  if (index == 0) return 0;
  const buckets = bucketsOf(partition);
  const turn = min(buckets, (<u32>1) << bucketsLog2);
  const log2 = <u64>bucketsLog2;
  if (isSalted(partition)) return sortedSlots(index, buckets, log2, rows, slots, places);
  let count: u32 = 0, late = rows;
  for (let first: u32 = 0; first < turn; first++) {
    // No index is half full of ids of other buckets.
    const farthest = <u64>first + (turn >> 1);
    for (let bucket = first; bucket < buckets; bucket += turn) {
      const at = index + (<usize>bucket << 6);
      for (let slot = at; slot < at + 16; slot += 4) {
        if (load<u32>(slot, SLOT.row) <= ROW_REMOVED) continue;
        // Another thread inserted meanwhile, which the caller finds out.
        if (count == late) return count;
        const place = placeOf(slot, log2);
        if ((rotl<u64>(place, log2) & <u64>(turn - 1)) > farthest) store<u32>(slots + (<usize>--late << 2), <u32>slot);
        else settle(slots, places, count++, slot, place);
      }
    }
  }
  for (; count < rows; count++) {
    const slot = <usize>load<u32>(slots + (<usize>count << 2));
    settle(slots, places, count, slot, placeOf(slot, log2));
  }
  return count;
}
