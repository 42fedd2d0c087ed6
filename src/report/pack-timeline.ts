/** @file Packs a trace for its page: spans by thread and depth, in columns of numbers. */
import type { ChromeTrace, CounterRecord, SpanRecord } from '../trace/read-chrome-trace.js';
import { compareNesting } from '../trace/self-times.js';
import type { TimelineCounter, TimelineHeader, TimelineLane } from './timeline.js';

/** Ends of spans that lie inside others may be behind theirs by a rounding. */
const ROUNDING_US = 0.002;

export interface PackedTimeline {
  readonly header: TimelineHeader;
  /** Base64. */
  readonly columns: string;
}

export function packTimeline(trace: ChromeTrace): PackedTimeline {
  const names = new Map<string, number>();
  const numberOf = ({ name, category }: SpanRecord): number => {
    const key = `${category}/${name}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    names.set(key, listed.push({ name, category }) - 1);
    return listed.length - 1;
  };
  const listed: { name: string; category: string }[] = [];
  const order: SpanRecord[] = [];
  const rows = trace.rows.map(({ name, lost, spans }) => {
    const lanes = lanesOf(spans).map((lane): TimelineLane => {
      const first = order.length;
      for (const span of lane) order.push(span);
      return { first, count: lane.length };
    });
    return { name, lost, lanes };
  });
  const { counters, samples } = countersOf(trace.counters);
  const start = trace.startUs;
  const columns = [
    Float64Array.from(order, ({ startUs }) => startUs - start),
    Float64Array.from(order, ({ durationUs }) => durationUs),
    Float64Array.from(samples, ({ timeUs }) => timeUs - start),
    Float64Array.from(samples, ({ value }) => value),
    Uint32Array.from(order, numberOf),
  ];
  const bytes = Buffer.concat(columns.map(({ buffer }) => Buffer.from(buffer)));
  const header = { wallUs: trace.endUs - start, names: listed, rows, counters };
  return {
    header: { ...header, spans: order.length, samples: samples.length },
    columns: bytes.toString('base64'),
  };
}

/** Spans by how many others they lie in. */
function lanesOf(spans: readonly SpanRecord[]): SpanRecord[][] {
  const lanes: SpanRecord[][] = [];
  const ends: number[] = [];
  for (const span of [...spans].sort(compareNesting)) {
    while (ends.length > 0 && ends.at(-1)! <= span.startUs + ROUNDING_US) ends.pop();
    if (lanes.length === ends.length) lanes.push([]);
    lanes[ends.length]!.push(span);
    ends.push(span.startUs + span.durationUs);
  }
  return lanes;
}

function countersOf(records: readonly CounterRecord[]) {
  const byName = new Map<string, CounterRecord[]>();
  for (const record of records) {
    const known = byName.get(record.name);
    if (known === undefined) byName.set(record.name, [record]);
    else known.push(record);
  }
  const samples: CounterRecord[] = [];
  const counters: TimelineCounter[] = [];
  for (const [name, list] of byName) {
    list.sort((a, b) => a.timeUs - b.timeUs);
    const first = samples.length;
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const sample of list) {
      samples.push(sample);
      least = Math.min(least, sample.value);
      most = Math.max(most, sample.value);
    }
    counters.push({ name, first, count: list.length, least, most });
  }
  return { counters, samples };
}
