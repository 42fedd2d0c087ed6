// What an update does when the heap is full: remove what is expired, or go on without new ids.
//
// OVERFLOW of src/memory/table-layout.ts is the block of a table that does either. The ids that are passed over, by a
// full table or by an admission filter, share the row of their partition for the length of the update; nobody ever
// reads it.
import { BUCKET_BYTES, OVERFLOW, OVERFLOW_SLOTS, TABLE } from "../generated/layouts";
import { tableEvict } from "./evict";
import { latestUpdate } from "./step";

/** Removes expired rows of a partition, as of the latest update; false when there are none or they are to stay. */
export function evictWhenFull(table: usize, p: u32): bool {
  const block = <usize>load<u32>(table, TABLE.overflow);
  if (block == 0 || load<u32>(block, OVERFLOW.days) == 0) return false;
  return tableEvict(table, p, p + 1, latestUpdate(table), <usize>load<u32>(block, OVERFLOW.days)) != 0;
}

/** The slot of the row that takes what nobody reads in a partition, or 0 in a table that has none. */
@inline
export function sinkSlot(table: usize, p: u32): usize {
  const block = <usize>load<u32>(table, TABLE.overflow);
  return block == 0 ? 0 : block + OVERFLOW_SLOTS + <usize>p * BUCKET_BYTES;
}

/** Whether a slot is one of those. */
@inline
export function isSink(table: usize, slot: usize): bool {
  const block = <usize>load<u32>(table, TABLE.overflow);
  return block != 0 && slot - (block + OVERFLOW_SLOTS) < BUCKET_BYTES << load<u32>(table, TABLE.partitionsLog2);
}

/** The sink when new ids of a full table go there, or 0 when they do not. */
@inline
export function overflowSlot(table: usize, p: u32): usize {
  const block = <usize>load<u32>(table, TABLE.overflow);
  return block == 0 || load<u32>(block, OVERFLOW.passesOver) == 0
    ? 0
    : block + OVERFLOW_SLOTS + <usize>p * BUCKET_BYTES;
}
