// Touched-key set: a bounded concurrent hopscotch set of ids, or of pairs of id and table, wholly in shared memory.
//
// Any thread may insert, count and steal at any time. An insert holds the stripe of its home bucket; a clear or a steal
// holds all of them. Two shortcuts keep most inserts cheap and change no result:
// - A key seen in the table without the lock is present: within an epoch keys only move, they never leave, and the
//   epoch is read again after the key. Id 0 is left out, as it looks like a wiped slot.
// - The shared size is raised in lumps. Each call counts its own unreported keys on top of it, so one writer sees the
//   exact size; with T writers the set may run over its capacity by T * lump keys (lump is 1 up to capacity 2047).
import { WORD } from "./units";
import {
  HOP_RANGE, INSERT_RANGE, LANE_BYTES, TOUCHED, TOUCHED_CHUNK, TOUCHED_SLOT, TOUCHED_SLOT_BYTES, TOUCHED_STRIPE,
  TOUCHED_STRIPE_BYTES,
} from "./generated/layouts";
import { mixSecretly, secretOf } from "./hash";
import { lockBriefly, lockInTime, tryLock, unlock } from "./sync";
import {
  INSERTED, IdKey, LOST_LOCK, PRESENT, PairKey, addOverflow, clearFull, createTouched, foldKey, initialise, isPair,
  overflowHas, putKey, saltOf, slotShift, tableAt,
} from "./touched-store";

export { capacityOfTouchedKeys, countTouchedClears, countTouchedKeys, countTouchedOverflow } from "./touched-store";

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
      (<u32>(atomic.load<i64>(home, TOUCHED_SLOT_BYTES.pair) == id) << 1) |
      (<u32>(atomic.load<i64>(home, 2 * TOUCHED_SLOT_BYTES.pair) == id) << 2) |
      (<u32>(atomic.load<i64>(home, 3 * TOUCHED_SLOT_BYTES.pair) == id) << 3);
    for (let left = hop & (near | ~15); left != 0; left &= left - 1) {
      const slot = home + (<usize>ctz(left) << slotShift<K>());
      if (atomic.load<i64>(slot, TOUCHED_SLOT.id) == id && atomic.load<u32>(slot, TOUCHED_SLOT.table) == table) {
        // An entry that was on the move gives the words of two pairs; its bitmap has changed then.
        return atomic.load<u32>(home, TOUCHED_SLOT.hops) == hop;
      }
    }
    return false;
  }
  const near =
    <u32>(atomic.load<i64>(home) == id) |
    (<u32>(atomic.load<i64>(home, TOUCHED_SLOT_BYTES.id) == id) << 1) |
    (<u32>(atomic.load<i64>(home, 2 * TOUCHED_SLOT_BYTES.id) == id) << 2) |
    (<u32>(atomic.load<i64>(home, 3 * TOUCHED_SLOT_BYTES.id) == id) << 3);
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
  const slots = <usize>load<u32>(set, TOUCHED.slots);
  const stripes = <usize>load<u32>(set, TOUCHED.stripes);
  const stripeMask = load<u32>(set, TOUCHED.stripeMask);
  for (let distance: u32 = HOP_RANGE - 1; distance > 0; distance--) {
    const home = hole - (<usize>distance << slotShift<K>());
    const hop = atomic.load<u32>(home, TOUCHED_SLOT.hops);
    const first = <u32>ctz(hop); // 32 when there is none
    if (first >= distance) continue;
    const bucket = <u32>((home - slots) >> slotShift<K>());
    const stripe = stripes + <usize>(bucket & stripeMask) * TOUCHED_STRIPE_BYTES;
    if (stripe != held && !lockBriefly(stripe)) continue;
    const from = home + (<usize>first << slotShift<K>());
    const unchanged = load<u32>(home, TOUCHED_SLOT.hops) == hop;
    if (unchanged) {
      putKey<K>(hole, load<i64>(from, TOUCHED_SLOT.id), tableAt<K>(from));
      atomic.store<u32>(hole, load<u32>(from, TOUCHED_SLOT.hash), TOUCHED_SLOT.hash);
      atomic.store<u32>(home, (hop | (1 << distance)) & ~(1 << first), TOUCHED_SLOT.hops);
    }
    if (stripe != held) unlock(stripe);
    if (unchanged) return from;
  }
  return 0;
}

/**
 * Steps 4 to 8 of an insert; the caller holds `stripe`, the stripe of `home`. `absent`: the key is known not to be
 * among the entries of `home`.
 */
function insertLocked<K>(
  set: usize, stripe: usize, home: usize, id: i64, table: u32, hash: u32, absent: bool,
): u32 {
  const hop = load<u32>(home, TOUCHED_SLOT.hops);
  if (!absent && isAmong<K>(home, hop, id, table)) return PRESENT;
  if (load<u32>(stripe, TOUCHED_STRIPE.overflowed) != 0) {
    const found = overflowHas<K>(set, id, table);
    if (found != INSERTED) return found;
  }
  const end = home + (<usize>INSERT_RANGE << slotShift<K>());
  // Slots with entries of this bucket are taken: no need to look.
  let hole = home + (<usize>ctz(~hop) << slotShift<K>());
  while (
    hole < end &&
    (load<u32>(hole, TOUCHED_SLOT.hash) != 0 || atomic.cmpxchg<u32>(hole, 0, hash, TOUCHED_SLOT.hash) != 0)
  ) {
    hole += 1 << slotShift<K>();
  }
  if (hole == end) return addOverflow<K>(set, stripe, id, table, hash);
  while (hole - home >= <usize>HOP_RANGE << slotShift<K>()) {
    const next = moveHole<K>(set, hole, stripe);
    if (next == 0) {
      atomic.store<u32>(hole, 0, TOUCHED_SLOT.hash);
      return addOverflow<K>(set, stripe, id, table, hash);
    }
    hole = next;
  }
  putKey<K>(hole, id, table);
  store<u32>(hole, hash, TOUCHED_SLOT.hash);
  // Not `hop`: making room may have moved an entry of this very bucket.
  store<u32>(
    home, load<u32>(home, TOUCHED_SLOT.hops) | (1 << <u32>((hole - home) >> slotShift<K>())), TOUCHED_SLOT.hops,
  );
  return INSERTED;
}

/** Hashes of `count` keys to `hashes`: by the secret of the memory, so that no ids can be made to fill one bucket. */
function hashChunk<K>(keys: usize, count: u32, salt: u64, secret: u64, hashes: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const key = foldKey<K>(load<i64>(keys + (<usize>i << 3)), salt);
    store<u32>(hashes + (<usize>i << 2), <u32>mixSecretly(key, secret) | 3);
  }
}

/**
 * Reads the home bucket of each hash, so that the cache misses of a chunk overlap. It must stay a loop of its own:
 * mixed into hashing or inserting it loses more than it gains.
 */
function touchChunk<K>(slots: usize, bucketMask: u32, hashes: usize, count: u32): u32 {
  let a: u32 = 0;
  let b: u32 = 0;
  let p = hashes;
  const end4 = hashes + (<usize>(count & ~3) << 2);
  const end = hashes + (<usize>count << 2);
  for (; p < end4; p += 16) {
    a |= load<u32>(slots + (<usize>(load<u32>(p) & bucketMask) << slotShift<K>()));
    b |= load<u32>(slots + (<usize>(load<u32>(p, WORD) & bucketMask) << slotShift<K>()));
    a |= load<u32>(slots + (<usize>(load<u32>(p, 2 * WORD) & bucketMask) << slotShift<K>()));
    b |= load<u32>(slots + (<usize>(load<u32>(p, 3 * WORD) & bucketMask) << slotShift<K>()));
  }
  for (; p < end; p += 4) a |= load<u32>(slots + (<usize>(load<u32>(p) & bucketMask) << slotShift<K>()));
  return a | b;
}

/**
 * Inserts `count` keys in order and returns how many keys clears dropped on the way, or -1 when a lock stayed held for
 * 30 s. `scratch` is TOUCHED_SCRATCH_BYTES bytes that nobody else uses meanwhile.
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
  if (atomic.load<i32>(set + TOUCHED.state) == 0 && !initialise<K>(set)) return -1;
  const capacity = load<u32>(set, TOUCHED.capacity);
  const bucketMask = load<u32>(set, TOUCHED.bucketMask);
  const stripeMask = load<u32>(set, TOUCHED.stripeMask);
  const lump = load<u32>(set, TOUCHED.lump);
  const salt = saltOf<K>(table);
  const secret = secretOf();
  const slots = <usize>load<u32>(set, TOUCHED.slots);
  const stripes = <usize>load<u32>(set, TOUCHED.stripes);
  let epoch = atomic.load<u32>(set + TOUCHED.epoch) & ~1;
  let pending: u32 = 0;
  let dropped: i64 = 0;
  let stripe: usize = stripes;

  for (let start: u32 = 0; start < count; start += TOUCHED_CHUNK) {
    const chunk = keys + (<usize>start << 3);
    const length = min(TOUCHED_CHUNK, count - start);
    hashChunk<K>(chunk, length, salt, secret, scratch);
    // The sum is stored only so that no compiler drops the reads.
    store<u32>(scratch, touchChunk<K>(slots, bucketMask, scratch, length), TOUCHED_CHUNK << 2);

    for (let i: u32 = 0; i < length; ) {
      if (atomic.load<u32>(set + TOUCHED.size) + pending > capacity) {
        const cleared = clearFull<K>(set, epoch, pending);
        if (cleared < 0) return -1;
        dropped += cleared;
      }
      const id = load<i64>(chunk + (<usize>i << 3));
      const hash = load<u32>(scratch + (<usize>i << 2));
      const home = slots + (<usize>(hash & bucketMask) << slotShift<K>());
      const hop = atomic.load<u32>(home, TOUCHED_SLOT.hops);
      const seen = isAmong<K>(home, hop, id, table);
      if (seen && id != 0 && atomic.load<u32>(set + TOUCHED.epoch) == epoch) {
        i++;
        continue;
      }
      stripe = stripes + <usize>(hash & stripeMask) * TOUCHED_STRIPE_BYTES;
      if (!lockInTime(stripe)) return -1;
      const now = atomic.load<u32>(set + TOUCHED.epoch);
      if (now != epoch) {
        pending = 0; // what this call had inserted is gone
      }
      // In one epoch a bitmap never comes back to an earlier value: entries move up and new ones add bits.
      const absent = !seen && now == epoch && load<u32>(home, TOUCHED_SLOT.hops) == hop;
      epoch = now;
      const result = insertLocked<K>(set, stripe, home, id, table, hash, absent);
      if (result == INSERTED) {
        store<u32>(stripe, load<u32>(stripe, TOUCHED_STRIPE.keys) + 1, TOUCHED_STRIPE.keys);
        pending++;
        // Under the stripe no wipe can come between the epoch and the size.
        if (pending >= lump) {
          atomic.add<u32>(set + TOUCHED.size, pending);
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
    if (atomic.load<u32>(set + TOUCHED.epoch) == epoch) atomic.add<u32>(set + TOUCHED.size, pending);
    unlock(stripe);
  }
  return <f64>dropped;
}

/** A lane for one insert call: src/memory/touched-layout.ts draws it. 0 when none came free in 30 s. */
export function acquireTouchedLane(set: usize): usize {
  const lanes = <usize>load<u32>(set, TOUCHED.lanes);
  const end = lanes + <usize>load<u32>(set, TOUCHED.laneCount) * LANE_BYTES;
  for (let lane = lanes; lane < end; lane += LANE_BYTES) {
    if (tryLock(lane)) return lane;
  }
  return lockInTime(lanes) ? lanes : 0;
}

export function releaseTouchedLane(lane: usize): void {
  unlock(lane);
}
