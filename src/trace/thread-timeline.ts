/**
 * @file Turns the events of one ring into what is drawn on one row: whole spans, counter values and instants, sorted.
 *
 * Rings hold spans in the order of their ends and may have lost one half of a begin/end pair; here each is put right.
 */
import { decodeSnapshot, type RingSnapshot, type TraceEvent } from './read-ring.js';

export interface TimelineSpan {
  readonly kind: 'span';
  readonly nameId: number;
  readonly timeMs: number;
  readonly durationUs: number;
  /** The end was not recorded: the span is drawn to the end of the trace. */
  readonly unfinished: boolean;
}

export type TimelineItem = TimelineSpan | Extract<TraceEvent, { kind: 'counter' | 'instant' }>;

export interface ThreadTimeline {
  /** By start, and spans before those inside them. */
  readonly items: TimelineItem[];
  /** Events that could not be drawn: ends without a begin, times that are no numbers. */
  readonly dropped: number;
}

/** The row of a snapshot. `endMs` is where the trace ends. */
export function threadTimeline(snapshot: RingSnapshot, endMs: number): ThreadTimeline {
  const items: TimelineItem[] = [];
  const open: { readonly nameId: number; readonly timeMs: number }[] = [];
  let dropped = 0;
  const close = (nameId: number, timeMs: number, untilMs: number, unfinished: boolean) =>
    items.push({ kind: 'span', nameId, timeMs, durationUs: Math.max(0, untilMs - timeMs) * 1000, unfinished });

  for (const event of decodeSnapshot(snapshot)) {
    if (!Number.isFinite(event.timeMs)) {
      dropped++;
      continue;
    }
    switch (event.kind) {
      case 'span':
        items.push({
          kind: 'span',
          nameId: event.nameId,
          timeMs: event.timeMs,
          durationUs: drawnUs(event.durationUs),
          unfinished: false,
        });
        break;
      case 'begin':
        open.push(event);
        break;
      case 'end': {
        const at = open.findLastIndex((begin) => begin.nameId === event.nameId);
        if (at < 0) dropped++;
        // Spans begun inside and never ended (their code threw) end with the one around them.
        else for (const begin of open.splice(at)) close(begin.nameId, begin.timeMs, event.timeMs, false);
        break;
      }
      default:
        items.push(event);
    }
  }
  for (const begin of open) close(begin.nameId, begin.timeMs, Math.max(endMs, begin.timeMs), true);
  return { items: sortForNesting(items), dropped };
}

/** A span that ends before it starts, or never, is drawn with no length: it did happen. */
function drawnUs(durationUs: number): number {
  return Number.isFinite(durationUs) ? Math.max(0, durationUs) : 0;
}

/**
 * By start; of two spans that start together the longer first, and of two alike the one that was recorded later, as
 * spans are recorded from the inside out. Values of a counter keep their order.
 */
function sortForNesting(items: readonly TimelineItem[]): TimelineItem[] {
  const order = items.map((_, index) => index);
  order.sort((x, y) => {
    const a = items[x]!;
    const b = items[y]!;
    if (a.timeMs !== b.timeMs) return a.timeMs - b.timeMs;
    if (a.kind !== 'span' || b.kind !== 'span') return Number(b.kind === 'span') - Number(a.kind === 'span') || x - y;
    return b.durationUs - a.durationUs || y - x;
  });
  return order.map((index) => items[index]!);
}

export interface SnapshotSurvey {
  /** First start on the shared clock; infinite when there is nothing. */
  readonly startMs: number;
  /** Last end; minus infinity when there is nothing. */
  readonly endMs: number;
  readonly counterIds: ReadonlySet<number>;
}

/** What must be known of all rows before the first is drawn. */
export function surveySnapshot(snapshot: RingSnapshot): SnapshotSurvey {
  let startMs = Number.POSITIVE_INFINITY;
  let endMs = Number.NEGATIVE_INFINITY;
  const counterIds = new Set<number>();
  for (const event of decodeSnapshot(snapshot)) {
    if (!Number.isFinite(event.timeMs)) continue;
    const lengthMs = event.kind === 'span' ? drawnUs(event.durationUs) / 1000 : 0;
    startMs = Math.min(startMs, event.timeMs);
    endMs = Math.max(endMs, event.timeMs + lengthMs);
    if (event.kind === 'counter') counterIds.add(event.nameId);
  }
  return { startMs, endMs, counterIds };
}
