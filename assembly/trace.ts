// Event rings of the trace, the writing side inside kernels. Layout, kinds and the plain twin: src/trace/trace-layout.ts
// and src/trace/trace-events.ts. A ring has one writing thread. Typical use in a kernel driver:
//
//   const start = traceNow(ring);
//   ...work...
//   traceSpan(ring, nameId, start, traceNow(ring));
//
// A null ring means "not traced" and costs one predictable branch; a ring that is switched off costs two, and no clock.
import { now } from "./clock";

// | 0 capacity | 4 written | 8 on | 12 thread | 16 origin f64 | 24 wraps | reserved to 64 | capacity records of 16 bytes |
const HEADER_BYTES: usize = 64;

const KIND_SPAN: u32 = 1;
const KIND_COUNTER: u32 = 2;
const KIND_INSTANT: u32 = 3;
const NAME_MASK: u32 = 0x00ffffff;

/** Whether events of this ring are wanted now. */
@inline
export function traceOn(ring: usize): bool {
  return ring != 0 && load<u32>(ring, 8) != 0;
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
    if (startMs > 0.0) pushEvent(ring, KIND_SPAN, nameId, reinterpret<u32>(<f32>((endMs - startMs) * 1000.0)), startMs);
  }
}

/** The value of a quantity at timeMs. */
@inline
export function traceCounter(ring: usize, nameId: u32, value: f32, timeMs: f64): void {
  if (traceOn(ring)) pushEvent(ring, KIND_COUNTER, nameId, reinterpret<u32>(value), timeMs);
}

/** Something that happened at timeMs. */
@inline
export function traceInstant(ring: usize, nameId: u32, argument: u32, timeMs: f64): void {
  if (traceOn(ring)) pushEvent(ring, KIND_INSTANT, nameId, argument, timeMs);
}

// Not inlined: the off path stays two compares in the caller's code, and the on path is a call against a clock read.
function pushEvent(ring: usize, kind: u32, nameId: u32, word: u32, timeMs: f64): void {
  const written = load<u32>(ring, 4);
  const record = ring + HEADER_BYTES + ((<usize>(written & (load<u32>(ring) - 1))) << 4);
  store<u32>(record, (kind << 24) | (nameId & NAME_MASK));
  store<u32>(record, word, 4);
  store<f64>(record, timeMs, 8);
  // The count of wraps comes first: a reader that sees the counter at 0 must already see why.
  if (written == 0xffffffff) store<u32>(ring, load<u32>(ring, 24) + 1, 24);
  // Publishes the record: a reader that sees the new count sees the record whole.
  atomic.store<u32>(ring, written + 1, 4);
}
