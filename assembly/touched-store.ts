// What a touched-key set is made of: header, stripes, overflow set, slots, lanes; and the acts that concern them all.
// Inserting and stealing are in touched.ts, the words in src/memory/touched-layout.ts.
import {
  INSERT_RANGE, LANE_BYTES, TOUCHED, TOUCHED_HEADER_BYTES, TOUCHED_SLOT, TOUCHED_SLOT_SHIFT, TOUCHED_STRIPE,
  TOUCHED_STRIPE_BYTES,
} from "./generated/layouts";
import { mix64 } from "./hash";
import { lockInTime, unlock } from "./sync";

/**
 * What a key is; the type argument of everything that depends on it, gone when it is compiled. An id stands alone; a
 * pair is an id and a table, whose index is kept plus one: what is wiped is the table of no pair.
 */
export type IdKey = u8;
export type PairKey = u16;

@inline
export function isPair<K>(): bool {
  return sizeof<K>() == sizeof<PairKey>();
}

@inline
export function slotShift<K>(): u32 {
  return isPair<K>() ? TOUCHED_SLOT_SHIFT.pair : TOUCHED_SLOT_SHIFT.id;
}

/** The bits of a key that are mixed: those of a pair cover both, tables of one id lie apart. */
@inline
export function foldKey<K>(id: i64, salt: u64): u64 {
  return isPair<K>() ? <u64>id ^ salt : <u64>id;
}

/** What tells the pairs of a table from those of others. */
@inline
export function saltOf<K>(table: u32): u64 {
  return isPair<K>() ? mix64(table) : 0;
}

@inline
export function isKey<K>(slot: usize, id: i64, table: u32): bool {
  return load<i64>(slot, TOUCHED_SLOT.id) == id && (!isPair<K>() || load<u32>(slot, TOUCHED_SLOT.table) == table);
}

/** Pairs are published word by word, so that who reads without a lock and finds the bitmap unchanged read one pair. */
@inline
export function putKey<K>(slot: usize, id: i64, table: u32): void {
  if (isPair<K>()) {
    atomic.store<i64>(slot, id, TOUCHED_SLOT.id);
    atomic.store<u32>(slot, table, TOUCHED_SLOT.table);
  } else store<i64>(slot, id, TOUCHED_SLOT.id);
}

@inline
export function tableAt<K>(slot: usize): u32 {
  return isPair<K>() ? load<u32>(slot, TOUCHED_SLOT.table) : 0;
}

export const INSERTED: u32 = 0;
export const PRESENT: u32 = 1;
export const OVERFLOW_FULL: u32 = 2;
export const LOST_LOCK: u32 = 3;

/**
 * Writes the header of a set at `set` (64-byte aligned) and returns the end of its memory. Nothing after the header and
 * the lanes' locks is touched before the first insert.
 */
export function createTouched<K>(
  set: usize, capacity: u32, buckets: u32, locks: u32, overflowSlots: u32, laneCount: u32,
): usize {
  memory.fill(set, 0, TOUCHED_HEADER_BYTES);
  const lanes = set + TOUCHED_HEADER_BYTES;
  for (let i: u32 = 0; i < laneCount; i++) store<i32>(lanes + <usize>i * LANE_BYTES, 0);
  const stripes = lanes + <usize>laneCount * LANE_BYTES;
  const overflow = stripes + ((<usize>locks * TOUCHED_STRIPE_BYTES + 63) & ~63);
  // Slot 3 opens a cache line.
  const slots = overflow + (<usize>(overflowSlots + 1) << slotShift<K>());
  const slotCount = buckets + INSERT_RANGE;
  store<u32>(set, capacity, TOUCHED.capacity);
  store<u32>(set, buckets - 1, TOUCHED.bucketMask);
  // With more locks than buckets, one bucket's keys must still share a stripe: they share its bitmap.
  store<u32>(set, min(buckets, locks) - 1, TOUCHED.stripeMask);
  store<u32>(set, min<u32>(max<u32>(capacity >> 10, 1), 32), TOUCHED.lump);
  store<u32>(set, slots, TOUCHED.slots);
  store<u32>(set, stripes, TOUCHED.stripes);
  store<u32>(set, overflow, TOUCHED.overflow);
  store<u32>(set, overflowSlots - 1, TOUCHED.overflowMask);
  store<u32>(set, overflowSlots - (overflowSlots >> 2), TOUCHED.overflowLimit);
  store<u32>(set, slotCount, TOUCHED.slotCount);
  store<u32>(set, lanes, TOUCHED.lanes);
  store<u32>(set, laneCount, TOUCHED.laneCount);
  atomic.store<i32>(set + TOUCHED.state, 0);
  return slots + (<usize>slotCount << slotShift<K>());
}

export function initialise<K>(set: usize): bool {
  if (!lockInTime(set + TOUCHED.initLock)) return false;
  if (atomic.load<i32>(set + TOUCHED.state) == 0) {
    memory.fill(
      load<u32>(set, TOUCHED.stripes), 0, <usize>(load<u32>(set, TOUCHED.stripeMask) + 1) * TOUCHED_STRIPE_BYTES,
    );
    memory.fill(
      load<u32>(set, TOUCHED.overflow), 0, <usize>(load<u32>(set, TOUCHED.overflowMask) + 1) << slotShift<K>(),
    );
    memory.fill(load<u32>(set, TOUCHED.slots), 0, <usize>load<u32>(set, TOUCHED.slotCount) << slotShift<K>());
    atomic.store<i32>(set + TOUCHED.state, 1);
  }
  unlock(set + TOUCHED.initLock);
  return true;
}

/** Keys in the set. Exact while nobody inserts. */
export function countTouchedKeys(set: usize): u32 {
  if (atomic.load<i32>(set + TOUCHED.state) == 0) return 0;
  const stripes = <usize>load<u32>(set, TOUCHED.stripes);
  const end = stripes + <usize>(load<u32>(set, TOUCHED.stripeMask) + 1) * TOUCHED_STRIPE_BYTES;
  let count: u32 = 0;
  for (let p = stripes; p < end; p += TOUCHED_STRIPE_BYTES) count += atomic.load<u32>(p, TOUCHED_STRIPE.keys);
  return count;
}

export function capacityOfTouchedKeys(set: usize): u32 {
  return load<u32>(set, TOUCHED.capacity);
}

/** How often the set was cleared for being full: the number of single inserts that dropped keys. */
export function countTouchedClears(set: usize): u32 {
  return atomic.load<u32>(set + TOUCHED.clearCount);
}

/** Keys that found no place in the table and sit in the overflow set. */
export function countTouchedOverflow(set: usize): u32 {
  return atomic.load<u32>(set + TOUCHED.overflowCount);
}

export function unlockStripes(set: usize, count: u32): void {
  const stripes = <usize>load<u32>(set, TOUCHED.stripes);
  for (let i: u32 = 0; i < count; i++) unlock(stripes + <usize>i * TOUCHED_STRIPE_BYTES);
}

export function lockStripes(set: usize): bool {
  const stripes = <usize>load<u32>(set, TOUCHED.stripes);
  const count = load<u32>(set, TOUCHED.stripeMask) + 1;
  for (let i: u32 = 0; i < count; i++) {
    if (!lockInTime(stripes + <usize>i * TOUCHED_STRIPE_BYTES)) {
      unlockStripes(set, i);
      return false;
    }
  }
  return true;
}

/** Empties the set. The caller holds the clear lock and every stripe. */
export function wipe<K>(set: usize): void {
  atomic.store<u32>(set + TOUCHED.epoch, load<u32>(set, TOUCHED.epoch) | 1);
  const stripes = <usize>load<u32>(set, TOUCHED.stripes);
  const end = stripes + <usize>(load<u32>(set, TOUCHED.stripeMask) + 1) * TOUCHED_STRIPE_BYTES;
  for (let p = stripes; p < end; p += TOUCHED_STRIPE_BYTES) {
    atomic.store<u32>(p, 0, TOUCHED_STRIPE.keys);
    store<u32>(p, 0, TOUCHED_STRIPE.overflowed);
  }
  if (load<u32>(set, TOUCHED.overflowCount) != 0) {
    memory.fill(
      load<u32>(set, TOUCHED.overflow), 0, <usize>(load<u32>(set, TOUCHED.overflowMask) + 1) << slotShift<K>(),
    );
    atomic.store<u32>(set + TOUCHED.overflowCount, 0);
  }
  memory.fill(load<u32>(set, TOUCHED.slots), 0, <usize>load<u32>(set, TOUCHED.slotCount) << slotShift<K>());
  atomic.store<u32>(set + TOUCHED.size, 0);
  atomic.store<u32>(set + TOUCHED.epoch, load<u32>(set, TOUCHED.epoch) + 1);
}

/**
 * Clears a set that is over capacity or whose overflow set is full; returns the keys dropped, 0 when another thread was
 * first, -1 when a lock is lost. `pending` keys of `epoch` are in the set and not yet in its size.
 */
export function clearFull<K>(set: usize, epoch: u32, pending: u32): i64 {
  if (!lockInTime(set + TOUCHED.clearLock)) return -1;
  let dropped: i64 = 0;
  const own = atomic.load<u32>(set + TOUCHED.epoch) == epoch ? pending : 0;
  if (
    atomic.load<u32>(set + TOUCHED.size) + own > load<u32>(set, TOUCHED.capacity) ||
    atomic.load<u32>(set + TOUCHED.overflowCount) >= load<u32>(set, TOUCHED.overflowLimit)
  ) {
    if (lockStripes(set)) {
      dropped = countTouchedKeys(set);
      wipe<K>(set);
      atomic.add<u32>(set + TOUCHED.clearCount, 1);
      unlockStripes(set, load<u32>(set, TOUCHED.stripeMask) + 1);
    } else {
      dropped = -1;
    }
  }
  unlock(set + TOUCHED.clearLock);
  return dropped;
}

/**
 * Where the key is in the overflow set, or the free place where it would go. The caller holds the overflow lock.
 * Probing is linear and by the public mix: keys that met by the secret one, and overflowed, lie apart here.
 */
function findOverflow<K>(set: usize, id: i64, table: u32): usize {
  const overflow = <usize>load<u32>(set, TOUCHED.overflow);
  const mask = load<u32>(set, TOUCHED.overflowMask);
  let i = <u32>mix64(foldKey<K>(id, saltOf<K>(table))) & mask;
  let p = overflow + (<usize>i << slotShift<K>());
  // Ends: a quarter of the places stays free.
  while (load<u32>(p, TOUCHED_SLOT.hash) != 0 && !isKey<K>(p, id, table)) {
    i = (i + 1) & mask;
    p = overflow + (<usize>i << slotShift<K>());
  }
  return p;
}

export function overflowHas<K>(set: usize, id: i64, table: u32): u32 {
  if (!lockInTime(set + TOUCHED.overflowLock)) return LOST_LOCK;
  const found = load<u32>(findOverflow<K>(set, id, table), TOUCHED_SLOT.hash) != 0;
  unlock(set + TOUCHED.overflowLock);
  return found ? PRESENT : INSERTED;
}

/** Adds a key that is known to be absent. The caller holds `stripe`. */
export function addOverflow<K>(set: usize, stripe: usize, id: i64, table: u32, hash: u32): u32 {
  if (!lockInTime(set + TOUCHED.overflowLock)) return LOST_LOCK;
  let result = OVERFLOW_FULL;
  const count = load<u32>(set, TOUCHED.overflowCount);
  if (count < load<u32>(set, TOUCHED.overflowLimit)) {
    const p = findOverflow<K>(set, id, table);
    putKey<K>(p, id, table);
    store<u32>(p, hash, TOUCHED_SLOT.hash);
    atomic.store<u32>(set + TOUCHED.overflowCount, count + 1);
    store<u32>(stripe, load<u32>(stripe, TOUCHED_STRIPE.overflowed) + 1, TOUCHED_STRIPE.overflowed);
    result = INSERTED;
  }
  unlock(set + TOUCHED.overflowLock);
  return result;
}

