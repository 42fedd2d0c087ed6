/** @file The trace of the page, unpacked; spans at a time, and names that were searched for. */
import type { TimelineHeader, TimelineLane } from '../timeline.js';

const headerOf = (): TimelineHeader => JSON.parse(document.getElementById('timeline')!.textContent!) as TimelineHeader;

function bytesOf(): ArrayBuffer {
  const text = atob(JSON.parse(document.getElementById('columns')!.textContent!) as string);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes.buffer;
}

export class TimelineData {
  readonly header = headerOf();
  readonly starts: Float64Array;
  readonly durations: Float64Array;
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly nameIds: Uint32Array;

  constructor() {
    const { spans, samples } = this.header;
    const bytes = bytesOf();
    this.starts = new Float64Array(bytes, 0, spans);
    this.durations = new Float64Array(bytes, spans * 8, spans);
    this.times = new Float64Array(bytes, spans * 16, samples);
    this.values = new Float64Array(bytes, spans * 16 + samples * 8, samples);
    this.nameIds = new Uint32Array(bytes, spans * 16 + samples * 16, spans);
  }

  endOf(span: number): number {
    return this.starts[span]! + this.durations[span]!;
  }

  nameOf(span: number): TimelineHeader['names'][number] {
    return this.header.names[this.nameIds[span]!]!;
  }

  /** The first span of a lane, from `from` on, that ends after `time`; the end of the lane where none does. */
  firstAfter({ first, count }: TimelineLane, time: number, from = first): number {
    let [low, high] = [from, first + count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.endOf(middle) > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Place of the first sample of a counter behind `time`. */
  sampleAfter(first: number, count: number, time: number): number {
    let [low, high] = [first, first + count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.times[middle]! > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Names that have `text` in them, by number; undefined where nothing is searched for. */
  matches(text: string): Uint8Array | undefined {
    const wanted = text.trim().toLowerCase();
    if (wanted === '') return undefined;
    return Uint8Array.from(this.header.names, ({ name, category }) =>
      name.toLowerCase().includes(wanted) || category.toLowerCase() === wanted ? 1 : 0,
    );
  }

  /** How many spans of these names there are, and their time together. */
  sumOf(matches: Uint8Array): { count: number; us: number } {
    let [count, us] = [0, 0];
    for (let span = 0; span < this.nameIds.length; span++) {
      if (matches[this.nameIds[span]!] === 0) continue;
      count++;
      us += this.durations[span]!;
    }
    return { count, us };
  }

  /** The span of these names that begins next after `time`; the very first where there is none. */
  nextMatch(matches: Uint8Array, time: number): number | undefined {
    let [next, first] = [-1, -1];
    for (let span = 0; span < this.nameIds.length; span++) {
      if (matches[this.nameIds[span]!] === 0) continue;
      const start = this.starts[span]!;
      if (first < 0 || start < this.starts[first]!) first = span;
      if (start > time && (next < 0 || start < this.starts[next]!)) next = span;
    }
    if (next >= 0) return next;
    return first >= 0 ? first : undefined;
  }
}

/** 12.3 ms: in the unit that leaves few digits. */
export function timeText(us: number): string {
  const size = Math.abs(us);
  if (size >= 1e6) return `${Number((us / 1e6).toPrecision(5))} s`;
  if (size >= 1e3) return `${Number((us / 1e3).toPrecision(5))} ms`;
  return `${Number(us.toPrecision(4))} µs`;
}
