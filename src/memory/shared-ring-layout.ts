/**
 * @file Where the words of a shared ring lie.
 *
 * ```
 *  Int32 words from the start of the region, one cache line (16 words) per group of writers:
 *
 *    0 magic | 1 capacity | 2 slot count | 3 words per slot
 *    4 low water | 5 first position | 6 cancelled | 7 name length
 *    8 … 15 name, up to 32 bytes                              written once, except `cancelled`: 0 or the reason's code
 *   16 head: position of the next push, with bit 0 set once the ring is closed
 *   32 tail: position of the next pop
 *   48 item event | 49 poppers waiting | 50 pop waits         the event is bumped for those who wait for an item
 *   64 space event | 65 pushers waiting | 66 push waits       the event is bumped for those who wait for space
 *   80 … slots: | sequence | payload words … |                 `slot count` of them
 * ```
 *
 * A position moves by 2 and wraps at 2^32, so bit 0 of the head is free to say "closed": a push claims its position by
 * a compare-and-swap of the head, and thus cannot slip in behind a close. For position p in its slot the sequence is
 *   p      free for the push of p
 *   p + 1  holds the payload of p (odd, so a full slot never looks like a free one, even in a ring of one slot)
 *   p + 2 * slot count  free for the next lap
 * Slots are a power of two in number, else positions would not wrap onto them evenly; a capacity in between is kept by
 * comparing head and tail.
 */
import assert from 'node:assert/strict';
import { CACHE_LINE } from './arena.js';

export const RING_MAGIC = 0x52494e47;
export const MAGIC = 0;
export const CAPACITY = 1;
export const SLOT_COUNT = 2;
export const SLOT_WORDS = 3;
export const LOW_WATER = 4;
export const FIRST_POSITION = 5;
export const CANCELLED = 6;
export const NAME_LENGTH = 7;
export const NAME = 8;
export const NAME_LENGTH_MAX = 32;
export const HEAD = 16;
export const TAIL = 32;
export const ITEM_EVENT = 48;
export const POP_WAITERS = 49;
export const POP_WAITS = 50;
export const SPACE_EVENT = 64;
export const PUSH_WAITERS = 65;
export const PUSH_WAITS = 66;
export const SLOTS = 80;

/** Bit 0 of the head. */
export const CLOSED_BIT = 1;
/** What one push or pop adds to a position. */
export const STEP = 2;
/** Positions of one lap must stay clear of the sign when they are subtracted. */
const CAPACITY_MAX = 1 << 28;

/** The smallest power of two from `capacity`. */
export function slotCountFor(capacity: number): number {
  assert(Number.isInteger(capacity) && capacity >= 1 && capacity <= CAPACITY_MAX, 'a ring holds 1 to 2^28 slots');
  return capacity === 1 ? 1 : 1 << (32 - Math.clz32(capacity - 1));
}

/** Bytes of a ring, a multiple of 64. */
export function ringBytesFor(capacity: number, slotBytes: number): number {
  assert(Number.isInteger(slotBytes) && slotBytes >= 4 && slotBytes % 4 === 0, 'a slot is a whole number of words');
  const bytes = SLOTS * 4 + slotCountFor(capacity) * (4 + slotBytes);
  return Math.ceil(bytes / CACHE_LINE) * CACHE_LINE;
}

export function writeName(words: Int32Array, name: string): void {
  const bytes = new TextEncoder().encode(name).subarray(0, NAME_LENGTH_MAX);
  words[NAME_LENGTH] = bytes.length;
  new Uint8Array(words.buffer, words.byteOffset + NAME * 4, NAME_LENGTH_MAX).set(bytes);
}

export function readName(words: Int32Array): string {
  // Copied first: a decoder refuses shared memory.
  return new TextDecoder().decode(
    new Uint8Array(words.buffer, words.byteOffset + NAME * 4, words[NAME_LENGTH]!).slice(),
  );
}
