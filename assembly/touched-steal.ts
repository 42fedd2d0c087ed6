// Taking all keys out of a touched-key set: inserts wait from the first key that is read until the set is empty.
import { STOLEN_PAIR, TOUCHED, TOUCHED_SLOT } from "./generated/layouts";
import { lockInTime, unlock } from "./sync";
import {
  IdKey, PairKey, countTouchedKeys, isPair, lockStripes, slotShift, tableAt, unlockStripes, wipe,
} from "./touched-store";

/**
 * Takes the clear lock and every stripe and returns the number of keys; with 0 (empty) or -1 (lost lock) it holds none.
 */
function stop(set: usize): i32 {
  if (atomic.load<i32>(set + TOUCHED.state) == 0) return 0;
  if (!lockInTime(set + TOUCHED.clearLock)) return -1;
  let count = -1;
  if (lockStripes(set)) {
    count = countTouchedKeys(set);
    if (count != 0) return count;
    unlockStripes(set, load<u32>(set, TOUCHED.stripeMask) + 1);
  }
  unlock(set + TOUCHED.clearLock);
  return count;
}

function resume(set: usize): void {
  unlockStripes(set, load<u32>(set, TOUCHED.stripeMask) + 1);
  unlock(set + TOUCHED.clearLock);
}

/**
 * Stops the set and packs its ids at the start of its slots (see `stolenTouchedKeys`); returns how many, or -1 when a
 * lock is lost. Unless it returns 0 or -1, `endSteal` must follow: until then inserts wait.
 */
export function beginSteal(set: usize): i32 {
  return begin<IdKey>(set);
}

/** beginSteal of a set of pairs: each takes 16 bytes, | 0 id i64 | 8 table index u32 | 12 unused |. */
export function beginStealPairs(set: usize): i32 {
  return begin<PairKey>(set);
}

function begin<K>(set: usize): i32 {
  const count = stop(set);
  if (count <= 0) return count;
  // Packing overwrites slots that readers without a lock may be at; the odd epoch voids what they see.
  atomic.store<u32>(set + TOUCHED.epoch, load<u32>(set, TOUCHED.epoch) | 1);
  // A packed key takes half a slot, so the packed keys never reach the slot being read.
  packAll<K>(set, load<u32>(set, TOUCHED.slots));
  return count;
}

function packAll<K>(set: usize, to: usize): void {
  const out = pack<K>(load<u32>(set, TOUCHED.slots), load<u32>(set, TOUCHED.slotCount), to);
  if (load<u32>(set, TOUCHED.overflowCount) != 0) {
    pack<K>(load<u32>(set, TOUCHED.overflow), load<u32>(set, TOUCHED.overflowMask) + 1, out);
  }
}

function pack<K>(from: usize, count: u32, to: usize): usize {
  const end = from + (<usize>count << slotShift<K>());
  let out = to;
  for (let p = from; p < end; p += 1 << slotShift<K>()) {
    if (load<u32>(p, TOUCHED_SLOT.hash) == 0) continue;
    if (isPair<K>()) {
      const table = tableAt<K>(p);
      // After the epoch for every reader: half of one pair and half of another may look like a third.
      atomic.store<i64>(out, load<i64>(p, TOUCHED_SLOT.id), STOLEN_PAIR.id);
      store<u32>(out, table - 1, STOLEN_PAIR.tableIndex);
    } else store<i64>(out, load<i64>(p, TOUCHED_SLOT.id), STOLEN_PAIR.id);
    out += 1 << (slotShift<K>() - 1);
  }
  return out;
}

/** Where the keys of a begun steal are. */
export function stolenTouchedKeys(set: usize): usize {
  return <usize>load<u32>(set, TOUCHED.slots);
}

/** Empties the set and lets inserts go on. */
export function endSteal(set: usize): void {
  wipe<IdKey>(set);
  resume(set);
}

export function endStealPairs(set: usize): void {
  wipe<PairKey>(set);
  resume(set);
}

/**
 * Moves all ids to `out` and returns how many. -1: a lock is lost; -2: `outCount` is too small and nothing was moved.
 * Room for capacity + 1 + 32 keys per inserting thread always suffices.
 */
export function stealTouchedKeys(set: usize, out: usize, outCount: u32): i32 {
  const count = stop(set);
  if (count <= 0) return count;
  if (<u32>count > outCount) {
    resume(set);
    return -2;
  }
  packAll<IdKey>(set, out);
  endSteal(set);
  return count;
}
