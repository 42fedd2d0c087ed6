/**
 * @file Sizes of a touched-key set, from what its owner asked for.
 *
 * Mirrors the constructor of hopscotch_hash_set. Kernel, reference and owner all take their numbers from here.
 */

/** How far linear probing looks for a free slot; the slots past the last bucket absorb it, so an index never wraps. */
export const INSERT_RANGE = 4096;

/** Memory one call of `insertTouchedKeys` uses for itself. */
export const TOUCHED_SCRATCH_BYTES = 1088;

/** Keys a lane of the set has room for, and where they begin in it. The lane's scratch is at LANE_SCRATCH. */
export const LANE_KEY_COUNT = 2048;
export const LANE_SCRATCH = 64;
export const LANE_KEYS = LANE_SCRATCH + TOUCHED_SCRATCH_BYTES;
const LANE_BYTES = LANE_KEYS + LANE_KEY_COUNT * 8;

const HEADER_BYTES = 256;
/** Bytes of a slot by what its keys are. */
export const TOUCHED_SLOT_BYTES = { id: 16, pair: 32 } as const;
const STRIPE_BYTES = 16;

export interface TouchedGeometry {
  readonly capacity: number;
  readonly buckets: number;
  readonly slots: number;
  readonly locks: number;
  /** Places of the overflow set. Three quarters of them may be taken; the next overflowing key clears the whole set. */
  readonly overflowSlots: number;
  readonly overflowLimit: number;
  readonly laneCount: number;
  /** Memory of the whole set, from its 64-byte aligned start. */
  readonly bytes: number;
}

/** Smallest power of two that is at least `n`, for n from 1 to 2^32. */
export function nextPow2(n: number): number {
  return n <= 1 ? 1 : 2 ** (32 - Math.clz32(n - 1));
}

/**
 * Sizes for `capacity` keys and `concurrencyLevel` locks, both whole numbers from 1.
 *
 * The overflow set holds keys whose neighbourhood is full. Natural ids put none there, so a sixteenth of the capacity is
 * ample; ids made to collide fill it, and then count as a set over its capacity.
 */
export function touchedGeometry(
  capacity: number,
  concurrencyLevel: number,
  laneCount = 16,
  keys: keyof typeof TOUCHED_SLOT_BYTES = 'id',
): TouchedGeometry {
  const buckets = nextPow2(Math.trunc(capacity * 1.2));
  const slots = buckets + INSERT_RANGE;
  const locks = nextPow2(concurrencyLevel);
  const overflowSlots = nextPow2(Math.max(64, Math.trunc(capacity / 16)));
  const stripesBytes = Math.ceil((locks * STRIPE_BYTES) / 64) * 64;
  const slotBytes = TOUCHED_SLOT_BYTES[keys];
  const bytes = HEADER_BYTES + laneCount * LANE_BYTES + stripesBytes + (overflowSlots + slots + 1) * slotBytes;
  return {
    capacity,
    buckets,
    slots,
    locks,
    overflowSlots,
    overflowLimit: overflowSlots - (overflowSlots >>> 2),
    laneCount,
    bytes,
  };
}
