// Touched-key set: a bounded concurrent hopscotch set of ids, or of pairs of id and table, wholly in shared memory.
//
// Any thread may insert, count and steal at any time. An insert holds the stripe of its home bucket; a clear or a steal
// holds all of them. Two shortcuts keep most inserts cheap and change no result:
// - A key seen in the table without the lock is present: within an epoch keys only move, they never leave, and the
//   epoch is read again after the key. Id 0 is left out, as it looks like a wiped slot.
// - The shared size is raised in lumps. Each call counts its own unreported keys on top of it, so one writer sees the
//   exact size; with T writers the set may run over its capacity by T * lump keys (lump is 1 up to capacity 2047).
import { mix64 } from "./hash";
import { lockBriefly, lockInTime, tryLock, unlock } from "./sync";
import {
  CLEAR_LOCK, EPOCH, HOP_RANGE, INSERTED, INSERT_RANGE, IdKey, LANE_BYTES, LOST_LOCK, PRESENT, PairKey, SIZE, STATE,
  STRIPE_SHIFT, addOverflow, clearFull, countTouchedKeys, createTouched, initialise, isPair, lockStripes, mixKey,
  overflowHas, putKey, slotShift, tableAt, unlockStripes, wipe,
} from "./touched-store";

export { capacityOfTouchedKeys, countTouchedClears, countTouchedKeys, countTouchedOverflow } from "./touched-store";

// Scratch of a call: | 0 hashes of a chunk | 1024 sum of the touch loop |.
const CHUNK: u32 = 256;

/** createTouched of a set of ids. */
export function createTouchedKeys(
  set: usize, capacity: u32, buckets: u32, locks: u32, overflowSlots: u32, laneCount: u32,
): usize {
  return createTouched<IdKey>(set, capacity, buckets, locks, overflowSlots, laneCount);
}

/** createTouched of a set of pairs. */
export function createTouchedPairs(
  set: usize, capacity: u32, buckets: u32, locks: u32, overflowSlots: u32, laneCount: u32,
): usize {
  return createTouched<PairKey>(set, capacity, buckets, locks, overflowSlots, laneCount);
}

/**
 * Whether one of the entries `hop` names is the key. The first four share one cache line of `home`, or two, and are
 * compared without a branch on how many there are, which no predictor could guess.
 */
@inline
function isAmong<K>(home: usize, hop: u32, id: i64, table: u32): bool {
  if (isPair<K>()) {
    const near =
      <u32>(atomic.load<i64>(home) == id) |
      (<u32>(atomic.load<i64>(home, 32) == id) << 1) |
      (<u32>(atomic.load<i64>(home, 64) == id) << 2) |
      (<u32>(atomic.load<i64>(home, 96) == id) << 3);
    for (let left = hop & (near | ~15); left != 0; left &= left - 1) {
      const slot = home + (<usize>ctz(left) << slotShift<K>());
      if (atomic.load<i64>(slot) == id && atomic.load<u32>(slot, 16) == table) {
        // An entry that was on the move gives the words of two pairs; its bitmap has changed then.
        return atomic.load<u32>(home, 12) == hop;
      }
    }
    return false;
  }
  const near =
    <u32>(atomic.load<i64>(home) == id) |
    (<u32>(atomic.load<i64>(home, 16) == id) << 1) |
    (<u32>(atomic.load<i64>(home, 32) == id) << 2) |
    (<u32>(atomic.load<i64>(home, 48) == id) << 3);
  let found = (near & hop) != 0;
  for (let far = hop & ~15; far != 0 && !found; far &= far - 1) {
    found = atomic.load<i64>(home + (<usize>ctz(far) << slotShift<K>())) == id;
  }
  return found;
}

/**
 * Moves an entry from among the 31 slots below `hole` into it and returns the slot it left, or 0 when none can move. A
 * stripe that stays busy is passed over: its holder may be waiting for ours.
 */
function moveHole<K>(set: usize, hole: usize, held: usize): usize {
  const slots = <usize>load<u32>(set, 28);
  const stripes = <usize>load<u32>(set, 32);
  const stripeMask = load<u32>(set, 20);
  for (let distance: u32 = HOP_RANGE - 1; distance > 0; distance--) {
    const home = hole - (<usize>distance << slotShift<K>());
    const hop = atomic.load<u32>(home, 12);
    const first = <u32>ctz(hop); // 32 when there is none
    if (first >= distance) continue;
    const bucket = <u32>((home - slots) >> slotShift<K>());
    const stripe = stripes + (<usize>(bucket & stripeMask) << STRIPE_SHIFT);
    if (stripe != held && !lockBriefly(stripe)) continue;
    const from = home + (<usize>first << slotShift<K>());
    const unchanged = load<u32>(home, 12) == hop;
    if (unchanged) {
      putKey<K>(hole, load<i64>(from), tableAt<K>(from));
      atomic.store<u32>(hole, load<u32>(from, 8), 8);
      atomic.store<u32>(home, (hop | (1 << distance)) & ~(1 << first), 12);
    }
    if (stripe != held) unlock(stripe);
    if (unchanged) return from;
  }
  return 0;
}

/**
 * Steps 4 to 8 of an insert; the caller holds `stripe`, the stripe of `home`. `absent`: the key is known not to be among
 * the entries of `home`.
 */
function insertLocked<K>(
  set: usize, stripe: usize, home: usize, id: i64, table: u32, hash: u32, absent: bool,
): u32 {
  const hop = load<u32>(home, 12);
  if (!absent && isAmong<K>(home, hop, id, table)) return PRESENT;
  if (load<u32>(stripe, 8) != 0) {
    const found = overflowHas<K>(set, id, table);
    if (found != INSERTED) return found;
  }
  const end = home + (<usize>INSERT_RANGE << slotShift<K>());
  // Slots with entries of this bucket are taken: no need to look.
  let hole = home + (<usize>ctz(~hop) << slotShift<K>());
  while (hole < end && (load<u32>(hole, 8) != 0 || atomic.cmpxchg<u32>(hole, 0, hash, 8) != 0)) hole += 1 << slotShift<K>();
  if (hole == end) return addOverflow<K>(set, stripe, id, table, hash);
  while (hole - home >= <usize>HOP_RANGE << slotShift<K>()) {
    const next = moveHole<K>(set, hole, stripe);
    if (next == 0) {
      atomic.store<u32>(hole, 0, 8);
      return addOverflow<K>(set, stripe, id, table, hash);
    }
    hole = next;
  }
  putKey<K>(hole, id, table);
  store<u32>(hole, hash, 8);
  // Not `hop`: making room may have moved an entry of this very bucket.
  store<u32>(home, load<u32>(home, 12) | (1 << <u32>((hole - home) >> slotShift<K>())), 12);
  return INSERTED;
}

/** Hashes of `count` keys to `hashes`. */
function hashChunk<K>(keys: usize, count: u32, salt: u64, hashes: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(hashes + (<usize>i << 2), <u32>mixKey<K>(load<i64>(keys + (<usize>i << 3)), salt) | 3);
  }
}

/**
 * Reads the home bucket of each hash, so that the cache misses of a chunk overlap. It must stay a loop of its own: mixed
 * into hashing or inserting it loses more than it gains.
 */
function touchChunk<K>(slots: usize, bucketMask: u32, hashes: usize, count: u32): u32 {
  let a: u32 = 0;
  let b: u32 = 0;
  let p = hashes;
  const end4 = hashes + (<usize>(count & ~3) << 2);
  const end = hashes + (<usize>count << 2);
  for (; p < end4; p += 16) {
    a |= load<u32>(slots + (<usize>(load<u32>(p) & bucketMask) << slotShift<K>()));
    b |= load<u32>(slots + (<usize>(load<u32>(p, 4) & bucketMask) << slotShift<K>()));
    a |= load<u32>(slots + (<usize>(load<u32>(p, 8) & bucketMask) << slotShift<K>()));
    b |= load<u32>(slots + (<usize>(load<u32>(p, 12) & bucketMask) << slotShift<K>()));
  }
  for (; p < end; p += 4) a |= load<u32>(slots + (<usize>(load<u32>(p) & bucketMask) << slotShift<K>()));
  return a | b;
}

/**
 * Inserts `count` keys in order and returns how many keys clears dropped on the way, or -1 when a lock stayed held for
 * 30 s. `scratch` is 1088 bytes that nobody else uses meanwhile.
 */
export function insertTouchedKeys(set: usize, keys: usize, count: u32, scratch: usize): f64 {
  return insert<IdKey>(set, keys, count, 0, scratch);
}

/** insertTouchedKeys of pairs: `count` ids of the table with this index, which is below 2^32 - 1. */
export function insertTouchedPairs(set: usize, ids: usize, count: u32, tableIndex: u32, scratch: usize): f64 {
  return insert<PairKey>(set, ids, count, tableIndex + 1, scratch);
}

function insert<K>(set: usize, keys: usize, count: u32, table: u32, scratch: usize): f64 {
  if (count == 0) return 0;
  if (atomic.load<i32>(set + STATE) == 0 && !initialise<K>(set)) return -1;
  const capacity = load<u32>(set, 12);
  const bucketMask = load<u32>(set, 16);
  const stripeMask = load<u32>(set, 20);
  const lump = load<u32>(set, 24);
  const salt: u64 = isPair<K>() ? mix64(table) : 0;
  const slots = <usize>load<u32>(set, 28);
  const stripes = <usize>load<u32>(set, 32);
  let epoch = atomic.load<u32>(set + EPOCH) & ~1;
  let pending: u32 = 0;
  let dropped: i64 = 0;
  let stripe: usize = stripes;

  for (let start: u32 = 0; start < count; start += CHUNK) {
    const chunk = keys + (<usize>start << 3);
    const length = min(CHUNK, count - start);
    hashChunk<K>(chunk, length, salt, scratch);
    // The sum is stored only so that no compiler drops the reads.
    store<u32>(scratch, touchChunk<K>(slots, bucketMask, scratch, length), 1024);

    for (let i: u32 = 0; i < length; ) {
      if (atomic.load<u32>(set + SIZE) + pending > capacity) {
        const cleared = clearFull<K>(set, epoch, pending);
        if (cleared < 0) return -1;
        dropped += cleared;
      }
      const id = load<i64>(chunk + (<usize>i << 3));
      const hash = load<u32>(scratch + (<usize>i << 2));
      const home = slots + (<usize>(hash & bucketMask) << slotShift<K>());
      const hop = atomic.load<u32>(home, 12);
      const seen = isAmong<K>(home, hop, id, table);
      if (seen && id != 0 && atomic.load<u32>(set + EPOCH) == epoch) {
        i++;
        continue;
      }
      stripe = stripes + (<usize>(hash & stripeMask) << STRIPE_SHIFT);
      if (!lockInTime(stripe)) return -1;
      const now = atomic.load<u32>(set + EPOCH);
      if (now != epoch) {
        pending = 0; // what this call had inserted is gone
      }
      // In one epoch a bitmap never comes back to an earlier value: entries move up and new ones add bits.
      const absent = !seen && now == epoch && load<u32>(home, 12) == hop;
      epoch = now;
      const result = insertLocked<K>(set, stripe, home, id, table, hash, absent);
      if (result == INSERTED) {
        store<u32>(stripe, load<u32>(stripe, 4) + 1, 4);
        pending++;
        // Under the stripe no wipe can come between the epoch and the size.
        if (pending >= lump) {
          atomic.add<u32>(set + SIZE, pending);
          pending = 0;
        }
      }
      unlock(stripe);
      if (result <= PRESENT) {
        i++;
      } else {
        if (result == LOST_LOCK) return -1;
        const cleared = clearFull<K>(set, epoch, pending);
        if (cleared < 0) return -1;
        dropped += cleared;
      }
    }
  }
  if (pending != 0) {
    if (!lockInTime(stripe)) return -1;
    if (atomic.load<u32>(set + EPOCH) == epoch) atomic.add<u32>(set + SIZE, pending);
    unlock(stripe);
  }
  return <f64>dropped;
}

/** Takes the clear lock and every stripe and returns the number of keys; with 0 (empty) or -1 (lost lock) it holds none. */
function stop(set: usize): i32 {
  if (atomic.load<i32>(set + STATE) == 0) return 0;
  if (!lockInTime(set + CLEAR_LOCK)) return -1;
  let count = -1;
  if (lockStripes(set)) {
    count = countTouchedKeys(set);
    if (count != 0) return count;
    unlockStripes(set, load<u32>(set, 20) + 1);
  }
  unlock(set + CLEAR_LOCK);
  return count;
}

function resume(set: usize): void {
  unlockStripes(set, load<u32>(set, 20) + 1);
  unlock(set + CLEAR_LOCK);
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
  atomic.store<u32>(set + EPOCH, load<u32>(set, 8) | 1);
  // A packed key takes half a slot, so the packed keys never reach the slot being read.
  packAll<K>(set, load<u32>(set, 28));
  return count;
}

function packAll<K>(set: usize, to: usize): void {
  const out = pack<K>(load<u32>(set, 28), load<u32>(set, 48), to);
  if (load<u32>(set, 132) != 0) pack<K>(load<u32>(set, 36), load<u32>(set, 40) + 1, out);
}

function pack<K>(from: usize, count: u32, to: usize): usize {
  const end = from + (<usize>count << slotShift<K>());
  let out = to;
  for (let p = from; p < end; p += 1 << slotShift<K>()) {
    if (load<u32>(p, 8) == 0) continue;
    if (isPair<K>()) {
      const table = tableAt<K>(p);
      // After the epoch for every reader: half of one pair and half of another may look like a third.
      atomic.store<i64>(out, load<i64>(p));
      store<u32>(out, table - 1, 8);
    } else store<i64>(out, load<i64>(p));
    out += 1 << (slotShift<K>() - 1);
  }
  return out;
}

/** Where the keys of a begun steal are. */
export function stolenTouchedKeys(set: usize): usize {
  return <usize>load<u32>(set, 28);
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

/** A lane for one insert call: its scratch is at +64 and room for 2048 keys at +1152. 0 when none came free in 30 s. */
export function acquireTouchedLane(set: usize): usize {
  const lanes = <usize>load<u32>(set, 52);
  const end = lanes + <usize>load<u32>(set, 56) * LANE_BYTES;
  for (let lane = lanes; lane < end; lane += LANE_BYTES) {
    if (tryLock(lane)) return lane;
  }
  return lockInTime(lanes) ? lanes : 0;
}

export function releaseTouchedLane(lane: usize): void {
  unlock(lane);
}
