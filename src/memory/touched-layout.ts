/**
 * @file Layout of a set of touched ids, or of pairs of id and table, in shared memory.
 *
 * ```
 * | header | lanes … | stripes … | overflow slots … | slots … |
 * ```
 * Words of the header's first line are written only while the set is made, initialised or wiped, so every core keeps
 * it.
 */
export const TOUCHED = {
  state: 0,
  initLock: 1,
  /** Odd while the set is wiped. */
  epoch: 2,
  capacity: 3,
  bucketMask: 4,
  stripeMask: 5,
  /** Keys that a writer inserts before it tells the others. */
  lump: 6,
  slots: 7,
  stripes: 8,
  overflow: 9,
  overflowMask: 10,
  overflowLimit: 11,
  slotCount: 12,
  lanes: 13,
  laneCount: 14,
  /** Keys in the set, on a line of its own. */
  size: 16,
  overflowLock: 32,
  overflowCount: 33,
  clearLock: 48,
  /** Clears since the set was made. */
  clearCount: 49,
} as const;
export const TOUCHED_HEADER_BYTES = 256;

/**
 * Hashes end in binary 11, so only every fourth stripe is used, and 16 bytes put each of those on a line of its own.
 */
export const TOUCHED_STRIPE = { lock: 0, keys: 1, overflowed: 2 } as const;
export const TOUCHED_STRIPE_BYTES = 16;

/**
 * The id is an i64. A hash of 0 is a free slot; `hops` is the bitmap of the bucket at this place, which overflow slots
 * do not have; `table` is the index of the table plus one, in sets of pairs. Home buckets are 3 mod 4, and slots start
 * so that those open a cache line.
 */
export const TOUCHED_SLOT = { id: 0, hash: 2, hops: 3, table: 4 } as const;
/** Bytes of a slot by what its keys are, and their logarithms. */
export const TOUCHED_SLOT_BYTES = { id: 16, pair: 32 } as const;
export const TOUCHED_SLOT_SHIFT = { id: 4, pair: 5 } as const;

/** A pair as beginStealPairs leaves it: 16 bytes, the id an i64. */
export const STOLEN_PAIR = { id: 0, tableIndex: 2 } as const;

/** How far an entry may be from its bucket. */
export const HOP_RANGE = 32;
/** How far linear probing looks for a free slot; the slots past the last bucket absorb it, so an index never wraps. */
export const INSERT_RANGE = 4096;

/** Keys that an insert handles together. */
export const TOUCHED_CHUNK = 256;
/**
 * Memory one call of `insertTouchedKeys` uses for itself: hashes of a chunk, and a line for the sum of the loop that
 * touches buckets.
 */
export const TOUCHED_SCRATCH_BYTES = TOUCHED_CHUNK * 4 + 64;

/** Bytes from the begin of a lane, for callers whose ids are not in this memory: its lock, scratch, room for keys. */
export const LANE_KEY_COUNT = 2048;
export const LANE_SCRATCH = 64;
export const LANE_KEYS = LANE_SCRATCH + TOUCHED_SCRATCH_BYTES;
export const LANE_BYTES = LANE_KEYS + LANE_KEY_COUNT * 8;
