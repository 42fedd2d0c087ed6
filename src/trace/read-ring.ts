/**
 * @file Reads events back out of a ring: a copy of the block is taken at one moment and decoded at leisure.
 *
 * The writer is not stopped. Records it overwrote while they were copied are left out; only the oldest of a full ring
 * may be a mix of two, as the writer could be in the middle of it. With the writer at rest or the ring off the copy is
 * exact.
 */

import { NAME_ID_END, TRACE_HEADER_BYTES, TRACE_KIND, TRACE_RECORD_BYTES } from '../memory/trace-layout.js';
import { type Views, view } from '../memory/views.js';
import { TraceRing } from './trace-ring.js';

interface Stamp {
  readonly nameId: number;
  /** On the clock all threads share. */
  readonly timeMs: number;
}

/** An event of a ring. */
export type TraceEvent =
  | (Stamp & { readonly kind: 'span'; readonly durationUs: number })
  | (Stamp & { readonly kind: 'counter'; readonly value: number })
  | (Stamp & { readonly kind: 'instant'; readonly argument: number })
  | (Stamp & { readonly kind: 'begin'; readonly argument: number })
  | (Stamp & { readonly kind: 'end'; readonly argument: number });

/** The records of a ring at one moment, oldest first. */
export interface RingSnapshot {
  readonly thread: number;
  readonly originMs: number;
  /** Events ever written, or since the mark. */
  readonly written: number;
  /** Events that are not in `records` any more. */
  readonly lost: number;
  readonly count: number;
  readonly records: ArrayBuffer;
}

export interface RingContents {
  readonly thread: number;
  readonly written: number;
  readonly lost: number;
  readonly events: TraceEvent[];
}

/** Copies what `ring` holds now, of the events after its first `since`. */
export function snapshotRing(ring: TraceRing, since = 0): RingSnapshot {
  const { capacity, ptr, views } = ring;
  const source = view(Uint8Array, views.buffer, ptr + TRACE_HEADER_BYTES, capacity * TRACE_RECORD_BYTES, 'trace ring');
  const before = ring.written;
  const held = Math.min(before - since, capacity);
  const copy = new Uint8Array(held * TRACE_RECORD_BYTES);
  const first = ((before - held) % capacity) * TRACE_RECORD_BYTES;
  const tail = Math.min(copy.length, source.length - first);
  copy.set(source.subarray(first, first + tail));
  copy.set(source.subarray(0, copy.length - tail), tail);
  const after = ring.written;
  const kept = Math.min(held, keptCount(capacity, before, after));
  return {
    thread: ring.thread,
    originMs: ring.originMs,
    written: before - since,
    lost: before - since - kept,
    count: kept,
    records: copy.buffer.slice((held - kept) * TRACE_RECORD_BYTES),
  };
}

/**
 * How many of the newest records of a copy are whole, when the count was `before` at its start and `after` at its end.
 * A writer at work has touched the records up to and including the one after its count.
 */
export function keptCount(capacity: number, before: number, after: number): number {
  const held = Math.min(before, capacity);
  return after === before ? held : Math.max(0, Math.min(held, capacity - (after - before) - 1));
}

/** The events of a snapshot, in the order they were written: spans when they ended, all others when they happened. */
export function decodeSnapshot(snapshot: RingSnapshot): TraceEvent[] {
  const u32 = new Uint32Array(snapshot.records);
  const f32 = new Float32Array(snapshot.records);
  const f64 = new Float64Array(snapshot.records);
  const events: TraceEvent[] = [];
  for (let i = 0; i < snapshot.count; i++) {
    const word = u32[i * 4]!;
    const nameId = word % NAME_ID_END;
    const timeMs = f64[i * 2 + 1]! + snapshot.originMs;
    const argument = u32[i * 4 + 1]!;
    switch (word >>> 24) {
      case TRACE_KIND.span:
        events.push({ kind: 'span', nameId, timeMs, durationUs: f32[i * 4 + 1]! });
        break;
      case TRACE_KIND.counter:
        events.push({ kind: 'counter', nameId, timeMs, value: f32[i * 4 + 1]! });
        break;
      case TRACE_KIND.instant:
        events.push({ kind: 'instant', nameId, timeMs, argument });
        break;
      case TRACE_KIND.begin:
        events.push({ kind: 'begin', nameId, timeMs, argument });
        break;
      case TRACE_KIND.end:
        events.push({ kind: 'end', nameId, timeMs, argument });
        break;
      default:
        // A kind of a later version: readers skip what they do not know.
        break;
    }
  }
  return events;
}

/** The events of the ring at `ptr` and how many were overwritten. */
export function readRing(views: Views, ptr: number): RingContents {
  const snapshot = snapshotRing(TraceRing.attach(views, ptr));
  return {
    thread: snapshot.thread,
    written: snapshot.written,
    lost: snapshot.lost,
    events: decodeSnapshot(snapshot),
  };
}
