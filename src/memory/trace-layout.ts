/**
 * @file Layout of an event ring in shared memory.
 *
 * One thread writes a ring and any thread may read it. A full ring overwrites its oldest events, so it always holds the
 * last `capacity` of them; `written` says how many there ever were.
 *
 * ```
 * | word 0 capacity | 1 written | 2 on | 3 thread | 4-5 origin (f64 ms) | 6 wraps | 7-15 reserved |   64 bytes
 * | record: word 0 = kind << 24 | nameId | word 1 = argument (u32 or f32 by kind) | 2-3 time (f64 ms) |  x capacity
 * ```
 */

export const TRACE_HEADER_BYTES = 64;
export const TRACE_RECORD_BYTES = 16;

/** Words of the header. */
export const TRACE_RING = {
  /** Events the ring holds, a power of two. */
  capacity: 0,
  /** Events ever written, modulo 2^32. Stored last, atomically: it publishes the record. */
  written: 1,
  /** 1 while events are recorded. */
  on: 2,
  /** Index of the writing thread. */
  thread: 3,
  /** f64: milliseconds to add to the writing thread's performance.now() to get the clock all threads share. */
  origin: 4,
  /** How often `written` passed 2^32. */
  wraps: 6,
} as const;
/** Words of a record; the time is an f64. */
export const TRACE_RECORD = { head: 0, argument: 1, time: 2 } as const;

export const TRACE_KIND = {
  /** Time is the start; the argument is the duration in microseconds (f32). */
  span: 1,
  /** The argument is the value (f32). */
  counter: 2,
  /** The argument is free (u32). */
  instant: 3,
  /** Opens a span that the next end of the same name and thread closes; the argument is free (u32). */
  begin: 4,
  end: 5,
} as const;

/** Name ids are below this: the kind has the upper byte of the word. */
export const NAME_ID_END = 1 << 24;

/** Bytes of a ring of `capacity` events. */
export function traceRingBytes(capacity: number): number {
  return TRACE_HEADER_BYTES + capacity * TRACE_RECORD_BYTES;
}
