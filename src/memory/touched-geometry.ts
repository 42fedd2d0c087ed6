/**
 * @file Sizes of a touched-key set, from what its owner asked for.
 *
 * Mirrors the constructor of hopscotch_hash_set. Kernel, reference and owner all take their numbers from here.
 */

import {
  INSERT_RANGE,
  LANE_BYTES,
  TOUCHED_HEADER_BYTES,
  TOUCHED_SLOT_BYTES,
  TOUCHED_STRIPE_BYTES,
} from './touched-layout.js';

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
 * The overflow set holds keys whose neighbourhood is full. Buckets are by the secret of the memory, so neither natural
 * ids nor made ones put any there, and a sixteenth of the capacity is ample.
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
  const stripesBytes = Math.ceil((locks * TOUCHED_STRIPE_BYTES) / 64) * 64;
  const slotBytes = TOUCHED_SLOT_BYTES[keys];
  const bytes = TOUCHED_HEADER_BYTES + laneCount * LANE_BYTES + stripesBytes + (overflowSlots + slots + 1) * slotBytes;
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
