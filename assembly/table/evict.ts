// Removal of rows: by age, or all of them.
import { BLOCK, PARTITION, ROW_REMOVED, SLOT } from "../generated/layouts";
import { heapFree } from "../heap";
import { bucketsOf, partitionOf } from "./index";
import { heapOf } from "./shares";
import { freeRow } from "./rows";

/** Removes the row of a slot that has one. */
export function removeSlot(partition: usize, slot: usize): void {
  const row = <usize>load<u32>(slot, SLOT.row);
  store<u32>(slot, ROW_REMOVED, SLOT.row);
  freeRow(partition, row);
  store<u32>(partition, load<u32>(partition, PARTITION.rows) - 1, PARTITION.rows);
}

/**
 * Removes the rows of partitions [first, end) whose last update is expired: now - time >= days(feature slot) * 86400,
 * which is bits 48..62 of the id. `days` is u32[32768], one per feature slot. Returns how many were removed.
 */
export function tableEvict(table: usize, first: u32, end: u32, nowSec: u32, days: usize): u32 {
  let removed: u32 = 0;
  for (let p = first; p < end; p++) {
    const partition = partitionOf(table, p);
    const index = <usize>load<u32>(partition, PARTITION.index);
    if (index == 0) continue;
    const last = index + (<usize>bucketsOf(partition) << 6);
    for (let bucket = index; bucket < last; bucket += 64) {
      for (let i: usize = 0; i < 4; i++) {
        const row = load<u32>(bucket + (i << 2), SLOT.row);
        if (row <= ROW_REMOVED) continue;
        const featureSlot = <usize>((load<u64>(bucket + (i << 3)) >> 48) & 0x7fff);
        const age = <i64>nowSec - <i64>load<u32>(bucket + (i << 2), SLOT.time);
        if (age < <i64>load<u32>(days + (featureSlot << 2)) * 86400) continue;
        removeSlot(partition, bucket + (i << 2));
        removed++;
      }
    }
  }
  return removed;
}

/** Removes all rows of partitions [first, end) and gives their memory back to the heap. */
export function tableClear(table: usize, first: u32, end: u32): void {
  for (let p = first; p < end; p++) {
    const partition = partitionOf(table, p);
    const heap = heapOf(table, partition);
    const index = <usize>load<u32>(partition, PARTITION.index);
    if (index != 0) heapFree(heap, index, bucketsOf(partition) << 6);
    let block = <usize>load<u32>(partition, PARTITION.firstBlock);
    while (block != 0) {
      const next = <usize>load<u32>(block, BLOCK.next);
      heapFree(heap, block, load<u32>(block, BLOCK.bytes));
      block = next;
    }
    // The lock, which the caller may hold, and what follows it stay.
    memory.fill(partition, 0, 40);
  }
}
