// What a touched-key set is made of: header, stripes, overflow set, slots, lanes; and the acts that concern them all.
// Inserting and stealing are in touched.ts.
import { mix64 } from "./hash";
import { lockInTime, unlock } from "./sync";

// Header. Words of the first line are written only while the set is made, initialised or wiped, so every core keeps it.
// | 0 state | 4 init lock | 8 epoch (odd while wiping) | 12 capacity | 16 bucket mask | 20 stripe mask | 24 lump
// | 28 slots | 32 stripes | 36 overflow | 40 overflow mask | 44 overflow limit | 48 slot count | 52 lanes | 56 lane count
// | 64 size, own line | 128 overflow lock | 132 overflow count | 192 clear lock | 196 clears since creation |
export const STATE: usize = 0;
export const INIT_LOCK: usize = 4;
export const EPOCH: usize = 8;
export const SIZE: usize = 64;
export const OVERFLOW_LOCK: usize = 128;
export const OVERFLOW_COUNT: usize = 132;
export const CLEAR_LOCK: usize = 192;
export const CLEAR_COUNT: usize = 196;
export const HEADER_BYTES: usize = 256;

// Stripe: | 0 lock | 4 keys | 8 overflowed keys | 12 unused |. Hashes end in binary 11, so only every fourth stripe is
// used, and 16 bytes put each of those on a cache line of its own.
export const STRIPE_SHIFT: u32 = 4;

// Slot: | 0 key i64 | 8 hash u32, 0 = free | 12 hop bitmap u32 of the bucket at this place |. A pair-keyed set adds the
// table index at 16 and a SLOT_SHIFT of 5; home buckets are 3 mod 4, and slots start so that those open a cache line.
export const SLOT_SHIFT: u32 = 4;
export const HOP_RANGE: u32 = 32;
export const INSERT_RANGE: u32 = 4096;

// Overflow slot: | 0 key i64 | 8 hash u32, 0 = free | 12 unused |, linear probing by the upper half of the mix.

// Lane: | 0 lock | 64 scratch | 1152 room for 2048 keys |, for callers whose ids are not in this memory.
export const LANE_BYTES: usize = 64 + 1088 + 16384;

export const INSERTED: u32 = 0;
export const PRESENT: u32 = 1;
export const OVERFLOW_FULL: u32 = 2;
export const LOST_LOCK: u32 = 3;

/**
 * Writes the header of a set at `set` (64-byte aligned) and returns the end of its memory. Nothing after the header and
 * the lanes' locks is touched before the first insert.
 */
export function createTouchedKeys(
  set: usize, capacity: u32, buckets: u32, locks: u32, overflowSlots: u32, laneCount: u32,
): usize {
  memory.fill(set, 0, HEADER_BYTES);
  const lanes = set + HEADER_BYTES;
  for (let i: u32 = 0; i < laneCount; i++) store<i32>(lanes + <usize>i * LANE_BYTES, 0);
  const stripes = lanes + <usize>laneCount * LANE_BYTES;
  const overflow = stripes + ((<usize>(locks << STRIPE_SHIFT) + 63) & ~63);
  // Slot 3 opens a cache line.
  const slots = overflow + <usize>(overflowSlots << SLOT_SHIFT) + 16;
  const slotCount = buckets + INSERT_RANGE;
  store<u32>(set, capacity, 12);
  store<u32>(set, buckets - 1, 16);
  // With more locks than buckets, one bucket's keys must still share a stripe: they share its bitmap.
  store<u32>(set, min(buckets, locks) - 1, 20);
  store<u32>(set, min<u32>(max<u32>(capacity >> 10, 1), 32), 24);
  store<u32>(set, slots, 28);
  store<u32>(set, stripes, 32);
  store<u32>(set, overflow, 36);
  store<u32>(set, overflowSlots - 1, 40);
  store<u32>(set, overflowSlots - (overflowSlots >> 2), 44);
  store<u32>(set, slotCount, 48);
  store<u32>(set, lanes, 52);
  store<u32>(set, laneCount, 56);
  atomic.store<i32>(set + STATE, 0);
  return slots + (<usize>slotCount << SLOT_SHIFT);
}

export function initialise(set: usize): bool {
  if (!lockInTime(set + INIT_LOCK)) return false;
  if (atomic.load<i32>(set + STATE) == 0) {
    memory.fill(load<u32>(set, 32), 0, <usize>(load<u32>(set, 20) + 1) << STRIPE_SHIFT);
    memory.fill(load<u32>(set, 36), 0, <usize>(load<u32>(set, 40) + 1) << SLOT_SHIFT);
    memory.fill(load<u32>(set, 28), 0, <usize>load<u32>(set, 48) << SLOT_SHIFT);
    atomic.store<i32>(set + STATE, 1);
  }
  unlock(set + INIT_LOCK);
  return true;
}

/** Keys in the set. Exact while nobody inserts. */
export function countTouchedKeys(set: usize): u32 {
  if (atomic.load<i32>(set + STATE) == 0) return 0;
  const stripes = <usize>load<u32>(set, 32);
  const end = stripes + (<usize>(load<u32>(set, 20) + 1) << STRIPE_SHIFT);
  let count: u32 = 0;
  for (let p = stripes; p < end; p += 1 << STRIPE_SHIFT) count += atomic.load<u32>(p, 4);
  return count;
}

export function capacityOfTouchedKeys(set: usize): u32 {
  return load<u32>(set, 12);
}

/** How often the set was cleared for being full: the number of single inserts that dropped keys. */
export function countTouchedClears(set: usize): u32 {
  return atomic.load<u32>(set + CLEAR_COUNT);
}

/** Keys that found no place in the table and sit in the overflow set. */
export function countTouchedOverflow(set: usize): u32 {
  return atomic.load<u32>(set + OVERFLOW_COUNT);
}

export function unlockStripes(set: usize, count: u32): void {
  const stripes = <usize>load<u32>(set, 32);
  for (let i: u32 = 0; i < count; i++) unlock(stripes + (<usize>i << STRIPE_SHIFT));
}

export function lockStripes(set: usize): bool {
  const stripes = <usize>load<u32>(set, 32);
  const count = load<u32>(set, 20) + 1;
  for (let i: u32 = 0; i < count; i++) {
    if (!lockInTime(stripes + (<usize>i << STRIPE_SHIFT))) {
      unlockStripes(set, i);
      return false;
    }
  }
  return true;
}

/** Empties the set. The caller holds the clear lock and every stripe. */
export function wipe(set: usize): void {
  atomic.store<u32>(set + EPOCH, load<u32>(set, 8) | 1);
  const stripes = <usize>load<u32>(set, 32);
  const end = stripes + (<usize>(load<u32>(set, 20) + 1) << STRIPE_SHIFT);
  for (let p = stripes; p < end; p += 1 << STRIPE_SHIFT) {
    atomic.store<u32>(p, 0, 4);
    store<u32>(p, 0, 8);
  }
  if (load<u32>(set, 132) != 0) {
    memory.fill(load<u32>(set, 36), 0, <usize>(load<u32>(set, 40) + 1) << SLOT_SHIFT);
    atomic.store<u32>(set + OVERFLOW_COUNT, 0);
  }
  memory.fill(load<u32>(set, 28), 0, <usize>load<u32>(set, 48) << SLOT_SHIFT);
  atomic.store<u32>(set + SIZE, 0);
  atomic.store<u32>(set + EPOCH, load<u32>(set, 8) + 1);
}

/**
 * Clears a set that is over capacity or whose overflow set is full; returns the keys dropped, 0 when another thread was
 * first, -1 when a lock is lost. `pending` keys of `epoch` are in the set and not yet in its size.
 */
export function clearFull(set: usize, epoch: u32, pending: u32): i64 {
  if (!lockInTime(set + CLEAR_LOCK)) return -1;
  let dropped: i64 = 0;
  const own = atomic.load<u32>(set + EPOCH) == epoch ? pending : 0;
  if (
    atomic.load<u32>(set + SIZE) + own > load<u32>(set, 12) ||
    atomic.load<u32>(set + OVERFLOW_COUNT) >= load<u32>(set, 44)
  ) {
    if (lockStripes(set)) {
      dropped = countTouchedKeys(set);
      wipe(set);
      atomic.add<u32>(set + CLEAR_COUNT, 1);
      unlockStripes(set, load<u32>(set, 20) + 1);
    } else {
      dropped = -1;
    }
  }
  unlock(set + CLEAR_LOCK);
  return dropped;
}

/** Where `key` is in the overflow set, or the free place where it would go. The caller holds the overflow lock. */
function findOverflow(set: usize, key: i64): usize {
  const overflow = <usize>load<u32>(set, 36);
  const mask = load<u32>(set, 40);
  let i = <u32>(mix64(<u64>key) >> 32) & mask;
  let p = overflow + (<usize>i << SLOT_SHIFT);
  // Ends: a quarter of the places stays free.
  while (load<u32>(p, 8) != 0 && load<i64>(p) != key) {
    i = (i + 1) & mask;
    p = overflow + (<usize>i << SLOT_SHIFT);
  }
  return p;
}

export function overflowHas(set: usize, key: i64): u32 {
  if (!lockInTime(set + OVERFLOW_LOCK)) return LOST_LOCK;
  const found = load<u32>(findOverflow(set, key), 8) != 0;
  unlock(set + OVERFLOW_LOCK);
  return found ? PRESENT : INSERTED;
}

/** Adds a key that is known to be absent. The caller holds `stripe`. */
export function addOverflow(set: usize, stripe: usize, key: i64, hash: u32): u32 {
  if (!lockInTime(set + OVERFLOW_LOCK)) return LOST_LOCK;
  let result = OVERFLOW_FULL;
  const count = load<u32>(set, 132);
  if (count < load<u32>(set, 44)) {
    const p = findOverflow(set, key);
    store<i64>(p, key);
    store<u32>(p, hash, 8);
    atomic.store<u32>(set + OVERFLOW_COUNT, count + 1);
    store<u32>(stripe, load<u32>(stripe, 8) + 1, 8);
    result = INSERTED;
  }
  unlock(set + OVERFLOW_LOCK);
  return result;
}

