// The slots of a hash table of ids: a power of two of | u64 id | u32 value | u32 - |, at most half full.
//
// Before use every byte of it is 0xff: that id marks an empty slot, and one more slot behind the others is for the id
// itself.
#pragma once
#include "common.cuh"

#define EMPTY 0xffffffffffffffffull

/**
 * mix64 of src/memory/hash.ts. A secret changes its first multiplier, which stays odd: ids that were made to meet by
 * the one that everybody knows do not meet by another.
 */
INLINE u64 mix64(u64 x, u32 secret = 0) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull ^ (u64)secret * 0x200000002ull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

/** The slot of an id, or null when it is not there. */
INLINE DeviceSlot* findSlot(DeviceSlot* slots, u32 mask, u64 id, u32 secret = 0) {
  if (id == EMPTY) return slots + (u64)mask + 1;
  u32 at = (u32)mix64(id, secret) & mask;
  for (u32 probes = 0; probes <= mask; probes++, at = (at + 1) & mask) {
    if (slots[at].id == id) return slots + at;
    if (slots[at].id == EMPTY) return nullptr;
  }
  return nullptr;
}

/** The slot of an id, which is taken if it is new; null when the table is full. */
INLINE DeviceSlot* takeSlot(DeviceSlot* slots, u32 mask, u64 id, u32 secret = 0) {
  if (id == EMPTY) return slots + (u64)mask + 1;
  u32 at = (u32)mix64(id, secret) & mask;
  for (u32 probes = 0; probes <= mask; probes++, at = (at + 1) & mask) {
    const u64 before = atomicCAS(&slots[at].id, EMPTY, id);
    if (before == EMPTY || before == id) return slots + at;
  }
  return nullptr;
}
