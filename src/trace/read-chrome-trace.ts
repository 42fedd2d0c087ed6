/**
 * @file Reads a Chrome trace file back and checks it. Files of other producers are read too, as far as they use the
 * same events; what is not understood is skipped, what is damaged is refused with the place.
 *
 * The file is parsed whole: a trace is bounded by the rings it came from (about 100 bytes per event kept).
 */
import { parseBoundedJson } from '../base/bounded-json.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { readWhole } from '../base/files/read-file.js';
import { TRACE_PRODUCER } from './chrome-trace.js';

export interface SpanRecord {
  readonly name: string;
  readonly category: string;
  readonly startUs: number;
  readonly durationUs: number;
}

export interface TraceRow {
  name: string;
  sortIndex: number;
  lost: number;
  readonly spans: SpanRecord[];
  /** First event of the row, infinite when it has none. */
  startUs: number;
}

export interface CounterRecord {
  readonly name: string;
  readonly timeUs: number;
  readonly value: number;
}

export interface ChromeTrace {
  /** In the order they are shown. */
  readonly rows: readonly TraceRow[];
  readonly counters: readonly CounterRecord[];
  /** First start and last end of all events; both 0 when there are none. */
  readonly startUs: number;
  readonly endUs: number;
}

type Fields = Readonly<Record<string, unknown>>;
type Fail = (reason: string) => MonolithError;

/** The rows and counters of the trace in `file`; ML_TRACE_READ says what is wrong with it. */
export async function readChromeTrace(file: string): Promise<ChromeTrace> {
  const root = readJson(file);
  const fail: Fail = (reason) => readError(file, reason);
  const events = Array.isArray(root) ? root : isFields(root) ? root.traceEvents : undefined;
  if (!Array.isArray(events)) throw fail('it is JSON but not a trace: there is no "traceEvents" list');
  const collector = new Collector(fail);
  for (const [index, event] of events.entries()) collector.add(event, index);
  if (isFields(root)) collector.addLost(root.otherData);
  return collector.finish();
}

function readJson(file: string): unknown {
  let text: string;
  try {
    text = readWhole(file, 'traceBytes').toString('utf8');
  } catch (cause) {
    throw readError(file, messageOf(cause), cause);
  }
  try {
    return parseBoundedJson(text, 'traceValues', (reason) => {
      throw readError(file, reason);
    });
  } catch (cause) {
    if (cause instanceof MonolithError) throw cause;
    throw readError(file, explainSyntax(text.trimEnd(), messageOf(cause)), cause);
  }
}

/** A parser that ran out of text means the file was cut off, whatever its message says. */
function explainSyntax(text: string, message: string): string {
  if (text.length === 0) return 'it is empty';
  if (!/^\s*[[{]/.test(text)) return 'it is not JSON';
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  const ranOut = /end of JSON|Unterminated/.test(message) || position >= text.length;
  return ranOut ? `it is cut off after ${text.length} characters` : `it is not valid JSON: ${message}`;
}

function readError(file: string, reason: string, cause?: unknown): MonolithError {
  const hint = 'give a file that `monolith train --trace` wrote';
  return new MonolithError('ML_TRACE_READ', { file, reason }, { hint, cause });
}

class Collector {
  readonly #fail: Fail;
  readonly #rows = new Map<string, TraceRow>();
  readonly #counters: CounterRecord[] = [];
  #startUs = Number.POSITIVE_INFINITY;
  #endUs = Number.NEGATIVE_INFINITY;

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  add(event: unknown, index: number): void {
    if (!isFields(event) || typeof event.ph !== 'string') throw this.#fail(`traceEvents[${index}] is not an event`);
    switch (event.ph) {
      case 'X':
        this.#addSpan(event, index);
        break;
      case 'C':
        this.#addCounter(event, index);
        break;
      case 'i':
        this.#stretch(this.#row(event), this.#number(event, 'ts', index), 0);
        break;
      case 'M':
        this.#addMetadata(event);
        break;
      default:
        break;
    }
  }

  /** Our own files say how much each ring overwrote. */
  addLost(otherData: unknown): void {
    if (!isFields(otherData) || otherData.producer !== TRACE_PRODUCER || !Array.isArray(otherData.threads)) return;
    for (const thread of otherData.threads.filter(isFields)) {
      if (typeof thread.lost === 'number') this.#row({ pid: 1, tid: thread.tid }).lost = thread.lost;
    }
  }

  finish(): ChromeTrace {
    const rows = [...this.#rows.values()].sort((a, b) => a.sortIndex - b.sortIndex);
    const empty = this.#startUs > this.#endUs;
    return {
      rows,
      counters: this.#counters,
      startUs: empty ? 0 : this.#startUs,
      endUs: empty ? 0 : this.#endUs,
    };
  }

  #addSpan(event: Fields, index: number): void {
    const row = this.#row(event);
    const startUs = this.#number(event, 'ts', index);
    const durationUs = this.#number(event, 'dur', index);
    if (durationUs < 0) throw this.#fail(`traceEvents[${index}] has a negative "dur"`);
    const category = typeof event.cat === 'string' ? event.cat : 'op';
    row.spans.push({ name: this.#name(event, index), category, startUs, durationUs });
    this.#stretch(row, startUs, durationUs);
  }

  #addCounter(event: Fields, index: number): void {
    const timeUs = this.#number(event, 'ts', index);
    const row = this.#row(event);
    this.#stretch(row, timeUs, 0);
    const name = this.#name(event, index);
    const label = event.id === undefined ? name : `${name} (${row.name})`;
    const series = isFields(event.args) ? Object.entries(event.args) : [];
    for (const [key, value] of series) {
      if (typeof value !== 'number') continue;
      this.#counters.push({ name: series.length === 1 ? label : `${label} ${key}`, timeUs, value });
    }
  }

  #addMetadata(event: Fields): void {
    const args = isFields(event.args) ? event.args : {};
    if (event.name === 'thread_name' && typeof args.name === 'string') this.#row(event).name = args.name;
    if (event.name === 'thread_sort_index' && typeof args.sort_index === 'number') {
      this.#row(event).sortIndex = args.sort_index;
    }
  }

  #row(event: Fields): TraceRow {
    const key = `${event.pid}/${event.tid}`;
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const row = { name: `thread ${event.tid}`, sortIndex: 0, lost: 0, spans: [], startUs: Number.POSITIVE_INFINITY };
    this.#rows.set(key, row);
    return row;
  }

  #stretch(row: TraceRow, startUs: number, durationUs: number): void {
    row.startUs = Math.min(row.startUs, startUs);
    this.#startUs = Math.min(this.#startUs, startUs);
    this.#endUs = Math.max(this.#endUs, startUs + durationUs);
  }

  #number(event: Fields, field: string, index: number): number {
    const value = event[field];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.#fail(`traceEvents[${index}] has no number "${field}"`);
  }

  #name(event: Fields, index: number): string {
    if (typeof event.name === 'string') return event.name;
    throw this.#fail(`traceEvents[${index}] has no "name"`);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
