/**
 * @file Writes event rings as a Chrome trace: the JSON that chrome://tracing, ui.perfetto.dev and `monolith trace`
 * open.
 *
 * Format: "Trace Event Format", JSON object form. One process, one row per thread. Times are in microseconds from the
 * first event. Everything that is not a timed event is in `otherData`.
 */
import { checkOptions } from '../base/check-options.js';
import { type RingSnapshot, snapshotRing } from './read-ring.js';
import { surveySnapshot, type TimelineItem, threadTimeline } from './thread-timeline.js';
import { writeTraceFile } from './trace-file.js';
import type { TraceNames } from './trace-names.js';
import type { TraceRing } from './trace-ring.js';

/** Told apart from other producers' files by this name in `otherData`. */
export const TRACE_PRODUCER = 'monolith-ts';

// Viewers take process 0 and thread 0 for the idle task of the machine.
const PID = 1;
const FIRST_TID = 1;

/** How many events each ring had ever taken, at some moment. */
export type TraceMark = ReadonlyMap<TraceRing, number>;

export interface ChromeTraceInput {
  /** Rows from the top. */
  readonly threads: readonly { readonly name: string; readonly ring: TraceRing }[];
  readonly names: TraceNames;
  /** Events that rings had before this are left out. */
  readonly since?: TraceMark;
  /** Said about the run in the file: model, backend, versions. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface ChromeTraceReport {
  /** Events in the file, over all threads. */
  readonly events: number;
  /** Events that were overwritten or could not be drawn, per thread. */
  readonly lost: readonly number[];
}

/**
 * Writes what the rings hold to `file`, whole or not at all.
 *
 * ```ts
 * await writeChromeTrace('trace.json', { threads: [{ name: 'main', ring }], names, metadata: { model: 'ffm' } });
 * ```
 */
export async function writeChromeTrace(file: string, input: ChromeTraceInput): Promise<ChromeTraceReport> {
  checkOptions('writeChromeTrace', input, ['threads', 'names', 'since', 'metadata']);
  // All rings are copied before any is written: the rows end at about the same moment.
  const snapshots = input.threads.map(({ ring }) => snapshotRing(ring, input.since?.get(ring)));
  const report = { events: 0, lost: snapshots.map((snapshot) => snapshot.lost) };
  await writeTraceFile(file, traceText(input, snapshots, report));
  return report;
}

function* traceText(
  { threads, names, metadata }: ChromeTraceInput,
  snapshots: readonly RingSnapshot[],
  report: { events: number; lost: number[] },
): Generator<string> {
  const surveys = snapshots.map(surveySnapshot);
  const startMs = surveys.reduce((least, survey) => Math.min(least, survey.startMs), Number.POSITIVE_INFINITY);
  const endMs = surveys.reduce((most, survey) => Math.max(most, survey.endMs), Number.NEGATIVE_INFINITY);
  const shared = repeated(surveys.map((survey) => survey.counterIds));

  yield '{"displayTimeUnit":"ms","traceEvents":[\n';
  yield JSON.stringify(metadataEvent('process_name', FIRST_TID, { name: TRACE_PRODUCER }));
  for (const [index, thread] of threads.entries()) {
    const tid = FIRST_TID + index;
    yield line(metadataEvent('thread_name', tid, { name: thread.name }));
    yield line(metadataEvent('thread_sort_index', tid, { sort_index: index }));
    const { items, dropped } = threadTimeline(snapshots[index]!, endMs);
    report.events += items.length;
    report.lost[index]! += dropped;
    for (const item of items) yield line(chromeEvent(item, tid, startMs, names, shared));
  }
  const rows = threads.map((thread, index) => ({
    tid: FIRST_TID + index,
    name: thread.name,
    written: snapshots[index]!.written,
    lost: report.lost[index],
  }));
  yield `\n],"otherData":${JSON.stringify({ ...metadata, producer: TRACE_PRODUCER, threads: rows })}}\n`;
}

function line(event: object): string {
  return `,\n${JSON.stringify(event)}`;
}

function metadataEvent(name: string, tid: number, args: object): object {
  return { ph: 'M', pid: PID, tid, name, args };
}

/** The event of the file. Every field is spelled out: spreading objects made up half of the time of a large trace. */
function chromeEvent(
  item: TimelineItem,
  tid: number,
  startMs: number,
  names: TraceNames,
  shared: ReadonlySet<number>,
): object {
  const { name, category: cat } = names.get(item.nameId);
  const ts = microseconds((item.timeMs - startMs) * 1000);
  switch (item.kind) {
    case 'span': {
      const dur = microseconds(item.durationUs);
      if (item.unfinished) return { ph: 'X', pid: PID, tid, ts, dur, name, cat, args: { unfinished: true } };
      return { ph: 'X', pid: PID, tid, ts, dur, name, cat };
    }
    case 'counter': {
      // JSON has no word for it, and a loss that is no number is worth a mark of its own.
      if (!Number.isFinite(item.value))
        return { ph: 'i', s: 't', pid: PID, tid, ts, name: `${name} is ${item.value}`, cat };
      const args = { value: item.value };
      // Counters of one name are one curve unless told apart.
      if (shared.has(item.nameId)) return { ph: 'C', pid: PID, tid, ts, name, id: tid, args };
      return { ph: 'C', pid: PID, tid, ts, name, args };
    }
    case 'instant':
      return { ph: 'i', s: 't', pid: PID, tid, ts, name, cat, args: { value: item.argument } };
    default:
      item satisfies never;
      return {};
  }
}

/** Whole nanoseconds: the clock gives no more, and further digits would double the file. */
function microseconds(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Ids that are in more than one of `sets`. */
function repeated(sets: readonly ReadonlySet<number>[]): Set<number> {
  const seen = new Set<number>();
  const twice = new Set<number>();
  for (const id of sets.flatMap((set) => [...set])) (seen.has(id) ? twice : seen).add(id);
  return twice;
}
