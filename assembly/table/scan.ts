// Slots of a table, in the order of the index or of an index of a given size. For those who walk all rows.
import { mix64 } from "../hash";
import { ROW_REMOVED } from "./index";

/**
 * Writes the slots of rows of partitions [first, end), in the order of the index, from the cursor on and at most `limit`.
 * The cursor is two u32 words, partition and 4 * bucket + slot; it begins as (first, 0), is moved to the next row, and is
 * (end, 0) when there is none. It is good for as long as nobody inserts. Returns how many slots were written.
 */
export function tableScan(table: usize, first: u32, end: u32, cursor: usize, slots: usize, limit: u32): u32 {
  let count: u32 = 0;
  const begin = max(first, load<u32>(cursor));
  let from: u32 = begin == load<u32>(cursor) ? load<u32>(cursor, 4) : 0;
  for (let p = begin; p < end; p++) {
    const partition = <usize>load<u32>(table, 32) + (<usize>p << 6);
    const index = <usize>load<u32>(partition);
    const places: u32 = index == 0 ? 0 : (load<u32>(partition, 4) + 1) << 2;
    for (let place = from; place < places; place++) {
      const slot = index + (<usize>(place >> 2) << 6) + (<usize>(place & 3) << 2);
      if (load<u32>(slot, 32) <= ROW_REMOVED) continue;
      if (count == limit) {
        store<u32>(cursor, p);
        store<u32>(cursor, place, 4);
        return count;
      }
      store<u32>(slots + (<usize>count << 2), <u32>slot);
      count++;
    }
    from = 0;
  }
  store<u32>(cursor, end);
  store<u32>(cursor, 0, 4);
  return count;
}

const DIGITS: u32 = 4;
const COUNTS_BYTES: usize = <usize>DIGITS * 256 * 4;

/** Where the slot's id comes in the order of sortSlotsByHash. */
// @ts-ignore: decorator
@inline function placeOf(slot: usize, bucketsLog2: u64): u64 {
  return rotr<u64>(mix64(load<u64>(slot + (slot & 63))), bucketsLog2);
}

/**
 * Sorts slots by the bucket their ids have in an index of 2^bucketsLog2 buckets, and within it by the rest of the hash, so
 * that what is written in this order does not depend on how the table came to be, and whoever reads it walks through an
 * index from its begin to its end. Half of a hash is sorted by byte, from the lowest on; the few ids that share it are put
 * right after. `scratch` has room for two lists of n 8-byte records and 4096 bytes more.
 */
export function sortSlotsByHash(slots: usize, n: u32, bucketsLog2: u32, scratch: usize): void {
  const counts = scratch;
  let from = scratch + COUNTS_BYTES;
  let to = from + (<usize>n << 3);
  memory.fill(counts, 0, COUNTS_BYTES);
  for (let i: u32 = 0; i < n; i++) {
    const slot = <usize>load<u32>(slots + (<usize>i << 2));
    const key = <u32>(placeOf(slot, <u64>bucketsLog2) >> 32);
    store<u64>(from + (<usize>i << 3), (<u64>slot << 32) | <u64>key);
    for (let d: u32 = 0; d < DIGITS; d++) {
      const at = counts + (<usize>d << 10) + (<usize>((key >> (d << 3)) & 255) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
  }
  for (let d: usize = 0; d < <usize>DIGITS && n > 0; d++) {
    const digit = counts + (d << 10);
    if (load<u32>(digit + (<usize>load<u8>(from + d) << 2)) == n) continue;
    // Counts become the places where the records of a digit go.
    let place: u32 = 0;
    for (let at = digit; at < digit + 1024; at += 4) {
      const count = load<u32>(at);
      store<u32>(at, place);
      place += count;
    }
    const end = from + (<usize>n << 3);
    for (let record = from; record < end; record += 8) {
      const at = digit + (<usize>load<u8>(record + d) << 2);
      const target = load<u32>(at);
      store<u32>(at, target + 1);
      store<u64>(to + (<usize>target << 3), load<u64>(record));
    }
    const sorted = to;
    to = from;
    from = sorted;
  }
  let before: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const record = from + (<usize>i << 3);
    const key = load<u32>(record);
    store<u32>(slots + (<usize>i << 2), load<u32>(record, 4));
    if (i > 0 && key == before) settle(slots, i, bucketsLog2);
    before = key;
  }
}

/** Moves slot i to its place among those before it, which are in order. */
function settle(slots: usize, i: u32, bucketsLog2: u32): void {
  const slot = load<u32>(slots + (<usize>i << 2));
  const place = placeOf(<usize>slot, <u64>bucketsLog2);
  let at = slots + (<usize>i << 2);
  for (; at > slots && placeOf(<usize>load<u32>(at - 4), <u64>bucketsLog2) > place; at -= 4) {
    store<u32>(at, load<u32>(at - 4));
  }
  store<u32>(at, slot);
}
