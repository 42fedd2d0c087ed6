/**
 * @file Writes events into a ring by pointer: the plain twin of assembly/trace.ts, and what `TraceRing` is made of.
 *
 * Nothing is allocated and nothing is checked per event: `TraceRing` checks the block once. One thread writes a ring.
 */

import { NAME_ID_END, TRACE_HEADER_BYTES, TRACE_KIND, TRACE_RECORD_BYTES, TRACE_RING } from '../memory/trace-layout.js';
import type { Views } from '../memory/views.js';

const WORD_BYTES = 4;
const NAME_MASK = NAME_ID_END - 1;

/** Whether events of this ring are wanted now. A null ring is never traced. */
export function traceOn(m: Views, ring: number): boolean {
  return ring !== 0 && m.u32[ring / WORD_BYTES + TRACE_RING.on] !== 0;
}

/** The time in ms, or 0 when nothing is recorded. */
export function traceNow(m: Views, ring: number): number {
  return traceOn(m, ring) ? performance.now() : 0;
}

/** Work from `startMs` to `endMs`. A start of 0 means the ring was off when the work began: nothing is recorded. */
export function traceSpan(m: Views, ring: number, nameId: number, startMs: number, endMs: number): void {
  if (!traceOn(m, ring) || !(startMs > 0)) return;
  const word = claim(m, ring, TRACE_KIND.span, nameId);
  m.f32[word + 1] = (endMs - startMs) * 1000;
  publish(m, ring, word, startMs);
}

/** The value of a quantity at `timeMs`. */
export function traceCounter(m: Views, ring: number, nameId: number, value: number, timeMs: number): void {
  if (!traceOn(m, ring)) return;
  const word = claim(m, ring, TRACE_KIND.counter, nameId);
  m.f32[word + 1] = value;
  publish(m, ring, word, timeMs);
}

/** Something that happened at `timeMs`. */
export function traceInstant(m: Views, ring: number, nameId: number, argument: number, timeMs: number): void {
  if (traceOn(m, ring)) writeWord(m, ring, TRACE_KIND.instant, nameId, argument, timeMs);
}

/** Opens a span whose end is written by `traceEnd`. Prefer `traceSpan`: one record, and never half lost. */
export function traceBegin(m: Views, ring: number, nameId: number, argument: number, timeMs: number): void {
  if (traceOn(m, ring)) writeWord(m, ring, TRACE_KIND.begin, nameId, argument, timeMs);
}

/** Closes the newest open span of that name. */
export function traceEnd(m: Views, ring: number, nameId: number, argument: number, timeMs: number): void {
  if (traceOn(m, ring)) writeWord(m, ring, TRACE_KIND.end, nameId, argument, timeMs);
}

function writeWord(m: Views, ring: number, kind: number, nameId: number, argument: number, timeMs: number): void {
  const word = claim(m, ring, kind, nameId);
  m.u32[word + 1] = argument;
  publish(m, ring, word, timeMs);
}

/** Starts the next record and returns its word index. */
function claim(m: Views, ring: number, kind: number, nameId: number): number {
  const header = ring / WORD_BYTES;
  const cell = m.u32[header + TRACE_RING.written]! & (m.u32[header + TRACE_RING.capacity]! - 1);
  const word = (ring + TRACE_HEADER_BYTES + cell * TRACE_RECORD_BYTES) / WORD_BYTES;
  m.u32[word] = (kind << 24) | (nameId & NAME_MASK);
  return word;
}

function publish(m: Views, ring: number, word: number, timeMs: number): void {
  m.f64[word / 2 + 1] = timeMs;
  const header = ring / WORD_BYTES;
  const written = m.u32[header + TRACE_RING.written]!;
  if (written === 0xffffffff) m.u32[header + TRACE_RING.wraps]! += 1;
  Atomics.store(m.u32, header + TRACE_RING.written, (written + 1) >>> 0);
}
