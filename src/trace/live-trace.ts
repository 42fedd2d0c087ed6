/** @file What threads recorded, as a trace that was read from a file would be, without the file. */
import type { ChromeTrace, SpanRecord, TraceRow } from './read-chrome-trace.js';
import { snapshotRing } from './read-ring.js';
import { threadTimeline } from './thread-timeline.js';
import type { TraceNames } from './trace-names.js';
import type { TraceRing } from './trace-ring.js';

interface LiveThread {
  readonly name: string;
  readonly ring: TraceRing;
}

/** A moment of a trace that goes on. */
export interface TraceMoment {
  /** Events that each ring had. */
  readonly written: ReadonlyMap<TraceRing, number>;
  /** On the clock that all threads share. */
  readonly atMs: number;
}

export function traceMoment(threads: readonly LiveThread[]): TraceMoment {
  const written = new Map(threads.map(({ ring }) => [ring, ring.written]));
  const first = threads[0]?.ring;
  return { written, atMs: first === undefined || !first.on ? Number.NEGATIVE_INFINITY : first.now() + first.originMs };
}

/** The spans that `threads` hold since `moment`; what began before it begins there. */
export function liveTrace(
  threads: readonly LiveThread[],
  names: TraceNames,
  moment: TraceMoment = { written: new Map(), atMs: Number.NEGATIVE_INFINITY },
): ChromeTrace {
  const fromUs = moment.atMs * 1000;
  const rows = threads.map(({ name, ring }, sortIndex): TraceRow => {
    const snapshot = snapshotRing(ring, moment.written.get(ring) ?? 0);
    const spans = threadTimeline(snapshot, Number.NEGATIVE_INFINITY).items.flatMap((item): SpanRecord[] => {
      if (item.kind !== 'span') return [];
      const startUs = Math.max(item.timeMs * 1000, fromUs);
      const durationUs = item.timeMs * 1000 + item.durationUs - startUs;
      return durationUs < 0 ? [] : [{ ...names.get(item.nameId), startUs, durationUs }];
    });
    const startUs = spans.reduce((least, span) => Math.min(least, span.startUs), Number.POSITIVE_INFINITY);
    return { name, sortIndex, lost: snapshot.lost, spans, startUs };
  });
  const all = rows.flatMap(({ spans }) => spans);
  const startUs = all.reduce((least, span) => Math.min(least, span.startUs), Number.POSITIVE_INFINITY);
  const endUs = all.reduce((most, span) => Math.max(most, span.startUs + span.durationUs), Number.NEGATIVE_INFINITY);
  return { rows, counters: [], startUs: all.length === 0 ? 0 : startUs, endUs: all.length === 0 ? 0 : endUs };
}
