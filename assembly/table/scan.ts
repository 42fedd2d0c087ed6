// Slots of a table, in the order of the index or of their ids. For those who walk all rows.
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

const DIGITS: usize = 8;
const COUNTS_BYTES: usize = DIGITS * 256 * 4;

/**
 * Sorts slots by their ids, as signed numbers, so that what is written in this order does not depend on how the table came
 * to be. By byte, from the lowest on; a byte that all ids share costs nothing. `scratch` has room for two lists of n
 * 16-byte records and 8192 bytes more, 8-byte aligned.
 */
export function sortSlotsById(slots: usize, n: u32, scratch: usize): void {
  const counts = scratch;
  let from = scratch + COUNTS_BYTES;
  let to = from + (<usize>n << 4);
  memory.fill(counts, 0, COUNTS_BYTES);
  for (let i: u32 = 0; i < n; i++) {
    const slot = <usize>load<u32>(slots + (<usize>i << 2));
    const key = load<u64>(slot + (slot & 63)) ^ 0x8000000000000000;
    const record = from + (<usize>i << 4);
    store<u64>(record, key);
    store<u32>(record, <u32>slot, 8);
    for (let d: usize = 0; d < DIGITS; d++) {
      const at = counts + (d << 10) + (<usize>((key >> (<u64>d << 3)) & 255) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
  }
  for (let d: usize = 0; d < DIGITS && n > 0; d++) {
    const digit = counts + (d << 10);
    if (load<u32>(digit + (<usize>load<u8>(from + d) << 2)) == n) continue;
    // Counts become the places where the records of a digit go.
    let place: u32 = 0;
    for (let at = digit; at < digit + 1024; at += 4) {
      const count = load<u32>(at);
      store<u32>(at, place);
      place += count;
    }
    const end = from + (<usize>n << 4);
    for (let record = from; record < end; record += 16) {
      const at = digit + (<usize>load<u8>(record + d) << 2);
      const target = load<u32>(at);
      store<u32>(at, target + 1);
      v128.store(to + (<usize>target << 4), v128.load(record));
    }
    const sorted = to;
    to = from;
    from = sorted;
  }
  for (let i: u32 = 0; i < n; i++) store<u32>(slots + (<usize>i << 2), load<u32>(from + (<usize>i << 4), 8));
}
