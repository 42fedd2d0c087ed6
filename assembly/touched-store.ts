// What a touched-key set is made of: header, stripes, overflow set, slots, lanes; and the acts that concern them all.
// Inserting and stealing are in touched.ts.
import { mix64, mixSecretly, secretOf } from "./hash";
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

// Slot: | 0 id i64 | 8 hash u32, 0 = free | 12 hop bitmap u32 of the bucket at this place |, and in a set of pairs
// | 16 table index + 1, u32 | 20 unused |. Home buckets are 3 mod 4, and slots start so that those open a cache line.
export const HOP_RANGE: u32 = 32;
export const INSERT_RANGE: u32 = 4096;

// Overflow slot: as a slot, without a bitmap; linear probing by the secret of the memory: what
// was made to overflow was made to meet.

// Lane: | 0 lock | 64 scratch | 1152 room for 2048 keys |, for callers whose ids are not in this memory.
export const LANE_BYTES: usize = 64 + 1088 + 16384;

/**
 * What a key is; the type argument of everything that depends on it, gone when it is compiled. An id stands alone; a pair
 * is an id and a table, whose index is kept plus one: what is wiped is the table of no pair.
 */
export type IdKey = u8;
export type PairKey = u16;

// @ts-ignore: decorator
@inline export function isPair<K>(): bool { return sizeof<K>() == sizeof<PairKey>(); }
// @ts-ignore: decorator
@inline export function slotShift<K>(): u32 { return isPair<K>() ? 5 : 4; }

/** The mix of a pair covers both: tables of one id lie apart. `salt` is the mix of the table. */
// @ts-ignore: decorator
@inline export function mixKey<K>(id: i64, salt: u64): u64 { return mix64(isPair<K>() ? <u64>id ^ salt : <u64>id); }

// @ts-ignore: decorator
@inline export function isKey<K>(slot: usize, id: i64, table: u32): bool {
  return load<i64>(slot) == id && (!isPair<K>() || load<u32>(slot, 16) == table);
}

/** Pairs are published word by word, so that who reads without a lock and finds the bitmap unchanged read one pair. */
// @ts-ignore: decorator
@inline export function putKey<K>(slot: usize, id: i64, table: u32): void {
  if (isPair<K>()) {
    atomic.store<i64>(slot, id);
    atomic.store<u32>(slot, table, 16);
  } else store<i64>(slot, id);
}

// @ts-ignore: decorator
@inline export function tableAt<K>(slot: usize): u32 { return isPair<K>() ? load<u32>(slot, 16) : 0; }

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
  memory.fill(set, 0, HEADER_BYTES);
  const lanes = set + HEADER_BYTES;
  for (let i: u32 = 0; i < laneCount; i++) store<i32>(lanes + <usize>i * LANE_BYTES, 0);
  const stripes = lanes + <usize>laneCount * LANE_BYTES;
  const overflow = stripes + ((<usize>(locks << STRIPE_SHIFT) + 63) & ~63);
  // Slot 3 opens a cache line.
  const slots = overflow + (<usize>(overflowSlots + 1) << slotShift<K>());
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
  return slots + (<usize>slotCount << slotShift<K>());
}

export function initialise<K>(set: usize): bool {
  if (!lockInTime(set + INIT_LOCK)) return false;
  if (atomic.load<i32>(set + STATE) == 0) {
    memory.fill(load<u32>(set, 32), 0, <usize>(load<u32>(set, 20) + 1) << STRIPE_SHIFT);
    memory.fill(load<u32>(set, 36), 0, <usize>(load<u32>(set, 40) + 1) << slotShift<K>());
    memory.fill(load<u32>(set, 28), 0, <usize>load<u32>(set, 48) << slotShift<K>());
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
export function wipe<K>(set: usize): void {
  atomic.store<u32>(set + EPOCH, load<u32>(set, 8) | 1);
  const stripes = <usize>load<u32>(set, 32);
  const end = stripes + (<usize>(load<u32>(set, 20) + 1) << STRIPE_SHIFT);
  for (let p = stripes; p < end; p += 1 << STRIPE_SHIFT) {
    atomic.store<u32>(p, 0, 4);
    store<u32>(p, 0, 8);
  }
  if (load<u32>(set, 132) != 0) {
    memory.fill(load<u32>(set, 36), 0, <usize>(load<u32>(set, 40) + 1) << slotShift<K>());
    atomic.store<u32>(set + OVERFLOW_COUNT, 0);
  }
  memory.fill(load<u32>(set, 28), 0, <usize>load<u32>(set, 48) << slotShift<K>());
  atomic.store<u32>(set + SIZE, 0);
  atomic.store<u32>(set + EPOCH, load<u32>(set, 8) + 1);
}

/**
 * Clears a set that is over capacity or whose overflow set is full; returns the keys dropped, 0 when another thread was
 * first, -1 when a lock is lost. `pending` keys of `epoch` are in the set and not yet in its size.
 */
export function clearFull<K>(set: usize, epoch: u32, pending: u32): i64 {
  if (!lockInTime(set + CLEAR_LOCK)) return -1;
  let dropped: i64 = 0;
  const own = atomic.load<u32>(set + EPOCH) == epoch ? pending : 0;
  if (
    atomic.load<u32>(set + SIZE) + own > load<u32>(set, 12) ||
    atomic.load<u32>(set + OVERFLOW_COUNT) >= load<u32>(set, 44)
  ) {
    if (lockStripes(set)) {
      dropped = countTouchedKeys(set);
      wipe<K>(set);
      atomic.add<u32>(set + CLEAR_COUNT, 1);
      unlockStripes(set, load<u32>(set, 20) + 1);
    } else {
      dropped = -1;
    }
  }
  unlock(set + CLEAR_LOCK);
  return dropped;
}

/** Where the key is in the overflow set, or the free place where it would go. The caller holds the overflow lock. */
function findOverflow<K>(set: usize, id: i64, table: u32): usize {
  const overflow = <usize>load<u32>(set, 36);
  const mask = load<u32>(set, 40);
  let i = <u32>mixSecretly(isPair<K>() ? <u64>id ^ mix64(table) : <u64>id, secretOf()) & mask;
  let p = overflow + (<usize>i << slotShift<K>());
  // Ends: a quarter of the places stays free.
  while (load<u32>(p, 8) != 0 && !isKey<K>(p, id, table)) {
    i = (i + 1) & mask;
    p = overflow + (<usize>i << slotShift<K>());
  }
  return p;
}

export function overflowHas<K>(set: usize, id: i64, table: u32): u32 {
  if (!lockInTime(set + OVERFLOW_LOCK)) return LOST_LOCK;
  const found = load<u32>(findOverflow<K>(set, id, table), 8) != 0;
  unlock(set + OVERFLOW_LOCK);
  return found ? PRESENT : INSERTED;
}

/** Adds a key that is known to be absent. The caller holds `stripe`. */
export function addOverflow<K>(set: usize, stripe: usize, id: i64, table: u32, hash: u32): u32 {
  if (!lockInTime(set + OVERFLOW_LOCK)) return LOST_LOCK;
  let result = OVERFLOW_FULL;
  const count = load<u32>(set, 132);
  if (count < load<u32>(set, 44)) {
    const p = findOverflow<K>(set, id, table);
    putKey<K>(p, id, table);
    store<u32>(p, hash, 8);
    atomic.store<u32>(set + OVERFLOW_COUNT, count + 1);
    store<u32>(stripe, load<u32>(stripe, 8) + 1, 8);
    result = INSERTED;
  }
  unlock(set + OVERFLOW_LOCK);
  return result;
}

