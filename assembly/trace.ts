// Event rings of the trace, the writing side inside kernels. src/memory/trace-layout.ts draws a ring, the plain twin is
// src/trace/trace-events.ts. A ring has one writing thread. Typical use in a kernel driver:
//
//   const start = traceNow(ring);
//   ...work...
//   traceSpan(ring, nameId, start, traceNow(ring));
//
// A null ring means "not traced" and costs one predictable branch; a ring that is switched off costs two, and no clock.
import {
  NAME_ID_END, TRACE_HEADER_BYTES, TRACE_KIND, TRACE_RECORD, TRACE_RECORD_BYTES, TRACE_RING,
} from "./generated/layouts";
import { now } from "./clock";

/** Whether events of this ring are wanted now. */
@inline
export function traceOn(ring: usize): bool {
  return ring != 0 && load<u32>(ring, TRACE_RING.on) != 0;
}

/** The time in ms, or 0 when nothing is recorded: the clock is not read then. */
@inline
export function traceNow(ring: usize): f64 {
  return traceOn(ring) ? now() : 0.0;
}

/** Work from startMs to endMs. A start of 0 means the ring was off when the work began: nothing is recorded. */
@inline
export function traceSpan(ring: usize, nameId: u32, startMs: f64, endMs: f64): void {
  if (traceOn(ring)) {
    if (startMs > 0.0) {
      pushEvent(ring, TRACE_KIND.span, nameId, reinterpret<u32>(<f32>((endMs - startMs) * 1000.0)), startMs);
    }
  }
}

/** The value of a quantity at timeMs. */
@inline
export function traceCounter(ring: usize, nameId: u32, value: f32, timeMs: f64): void {
  if (traceOn(ring)) pushEvent(ring, TRACE_KIND.counter, nameId, reinterpret<u32>(value), timeMs);
}

/** Something that happened at timeMs. */
@inline
export function traceInstant(ring: usize, nameId: u32, argument: u32, timeMs: f64): void {
  if (traceOn(ring)) pushEvent(ring, TRACE_KIND.instant, nameId, argument, timeMs);
}

// Not inlined: the off path stays two compares in the caller's code, and the on path is a call against a clock read.
function pushEvent(ring: usize, kind: u32, nameId: u32, word: u32, timeMs: f64): void {
  const written = load<u32>(ring, TRACE_RING.written);
  const place = <usize>(written & (load<u32>(ring, TRACE_RING.capacity) - 1));
  const record = ring + TRACE_HEADER_BYTES + place * TRACE_RECORD_BYTES;
  store<u32>(record, (kind << 24) | (nameId & (NAME_ID_END - 1)), TRACE_RECORD.head);
  store<u32>(record, word, TRACE_RECORD.argument);
  store<f64>(record, timeMs, TRACE_RECORD.time);
  // The count of wraps comes first: a reader that sees the counter at 0 must already see why.
  if (written == 0xffffffff) store<u32>(ring, load<u32>(ring, TRACE_RING.wraps) + 1, TRACE_RING.wraps);
  // Publishes the record: a reader that sees the new count sees the record whole.
  atomic.store<u32>(ring, written + 1, TRACE_RING.written);
}
