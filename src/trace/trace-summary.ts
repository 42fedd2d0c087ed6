/**
 * @file What a trace says in numbers: time per op, use of each thread, the longest waits, counters.
 *
 * Spans lie inside spans (ops inside phases, waits inside both). Times that are added up are self times, so that a
 * moment counts once; `totalMs`, `meanUs` and `maxUs` of an op are of whole spans. Kernels are recorded in some phases
 * only: what they take is projected from those to all phases of the thread.
 */
import {
  type ChromeTrace,
  type CounterRecord,
  readChromeTrace,
  type SpanRecord,
  type TraceRow,
} from './read-chrome-trace.js';
import { compareNesting, selfTimesUs } from './self-times.js';
import { type StepShares, stepShares } from './step-shares.js';

export interface OpSummary {
  readonly name: string;
  readonly category: string;
  /** Of kernels: as many as there were in all phases, projected. */
  readonly count: number;
  readonly totalMs: number;
  /** Without the spans inside. */
  readonly selfMs: number;
  readonly meanUs: number;
  readonly maxUs: number;
  /** Self time as a part of the busy time of all threads; of waits, as a part of all waiting. */
  readonly share: number;
}

export interface ThreadSummary {
  readonly name: string;
  readonly busyMs: number;
  readonly waitMs: number;
  /** What the events of the thread cover: the whole trace, or from its oldest event on if older ones are lost. */
  readonly windowMs: number;
  /** busyMs as a part of windowMs. */
  readonly utilisation: number;
  readonly lost: number;
}

export interface WaitSummary {
  readonly thread: string;
  readonly name: string;
  /** From the start of the trace. */
  readonly startMs: number;
  readonly ms: number;
}

export interface CounterSummary {
  readonly name: string;
  readonly count: number;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
  readonly last: number;
}

export interface TraceSummary {
  readonly wallMs: number;
  /** Where the time of steps went; null when there were none. */
  readonly steps: StepShares | null;
  /** Everything but waits, most self time first. */
  readonly ops: readonly OpSummary[];
  readonly threads: readonly ThreadSummary[];
  /** Waits by name, most time first. */
  readonly waitTotals: readonly OpSummary[];
  /** The longest single waits, longest first. */
  readonly waits: readonly WaitSummary[];
  readonly counters: readonly CounterSummary[];
  /** Events missing from the file, over all threads. */
  readonly lost: number;
}

/** Single waits that are kept. */
const WAITS_MAX = 50;

/**
 * The summary of a trace file; ML_TRACE_READ if it is none.
 *
 * ```ts
 * const { threads } = await summarizeTrace('trace.json');
 * ```
 */
export async function summarizeTrace(file: string): Promise<TraceSummary> {
  return summarizeChromeTrace(await readChromeTrace(file));
}

export function summarizeChromeTrace(trace: ChromeTrace): TraceSummary {
  const work = new OpTotals();
  const waiting = new OpTotals();
  const waits: WaitSummary[] = [];
  const threads = trace.rows.map((row): ThreadSummary => {
    let busyUs = 0;
    let waitUs = 0;
    const spans = [...row.spans].sort(compareNesting);
    const self = selfTimesUs(spans);
    const factors = projection(spans);
    for (const [index, span] of spans.entries()) {
      if (span.category === 'wait') {
        waitUs += self[index]!;
        waiting.add(span, self[index]!);
        waits.push(waitOf(row, span, trace.startUs));
      } else {
        busyUs += self[index]!;
        work.add(span, self[index]!, factors[index]!);
      }
    }
    const windowUs =
      row.lost > 0 && Number.isFinite(row.startUs) ? trace.endUs - row.startUs : trace.endUs - trace.startUs;
    return {
      name: row.name,
      busyMs: busyUs / 1000,
      waitMs: waitUs / 1000,
      windowMs: windowUs / 1000,
      utilisation: windowUs > 0 ? busyUs / windowUs : 0,
      lost: row.lost,
    };
  });
  return {
    wallMs: (trace.endUs - trace.startUs) / 1000,
    steps: stepShares(trace.rows),
    ops: work.finish(),
    threads,
    waitTotals: waiting.finish(),
    waits: waits.sort((a, b) => b.ms - a.ms).slice(0, WAITS_MAX),
    counters: summarizeCounters(trace.counters),
    lost: threads.reduce((sum, thread) => sum + thread.lost, 0),
  };
}

/**
 * What each span stands for: a phase in which kernels were recorded stands for those in which they were not, and so do
 * its kernels; a phase without kernels then has nothing to say about what was in it. All ones when no kernel is
 * recorded.
 */
function projection(spans: readonly SpanRecord[]): Float64Array {
  const factors = new Float64Array(spans.length).fill(1);
  const detailed = new Set<number>();
  let phase = -1;
  for (const [index, span] of spans.entries()) {
    if (span.category === 'phase') phase = index;
    else if (span.category === 'kernel' && phase >= 0 && span.startUs <= endOf(spans[phase]!)) detailed.add(phase);
  }
  if (detailed.size === 0) return factors;
  let [allUs, detailedUs] = [0, 0];
  for (const [index, span] of spans.entries()) {
    if (span.category !== 'phase') continue;
    allUs += span.durationUs;
    if (detailed.has(index)) detailedUs += span.durationUs;
  }
  const factor = detailedUs > 0 ? allUs / detailedUs : 1;
  for (const [index, span] of spans.entries()) {
    if (span.category === 'kernel') factors[index] = factor;
    else if (span.category === 'phase') factors[index] = detailed.has(index) ? factor : 0;
  }
  return factors;
}

function endOf(span: SpanRecord): number {
  return span.startUs + span.durationUs;
}

function waitOf(row: TraceRow, span: SpanRecord, startUs: number): WaitSummary {
  return {
    thread: row.name,
    name: span.name,
    startMs: (span.startUs - startUs) / 1000,
    ms: span.durationUs / 1000,
  };
}

/** Adds spans up by category and name. */
class OpTotals {
  readonly #totals = new Map<
    string,
    { first: SpanRecord; count: number; totalUs: number; selfUs: number; maxUs: number }
  >();
  #selfUs = 0;

  /**
   * `factor`: how many such spans this one stands for. Of phases only the self time is projected; they are all there.
   */
  add(span: SpanRecord, selfUs: number, factor = 1): void {
    const key = `${span.category}/${span.name}`;
    let total = this.#totals.get(key);
    if (total === undefined) {
      total = { first: span, count: 0, totalUs: 0, selfUs: 0, maxUs: 0 };
      this.#totals.set(key, total);
    }
    const counted = span.category === 'phase' ? 1 : factor;
    total.count += counted;
    total.totalUs += span.durationUs * counted;
    total.selfUs += selfUs * factor;
    total.maxUs = Math.max(total.maxUs, span.durationUs);
    this.#selfUs += selfUs * factor;
  }

  finish(): OpSummary[] {
    const rows = [...this.#totals.values()].map(({ first, count, totalUs, selfUs, maxUs }) => ({
      name: first.name,
      category: first.category,
      count: Math.round(count),
      totalMs: totalUs / 1000,
      selfMs: selfUs / 1000,
      meanUs: totalUs / count,
      maxUs,
      share: this.#selfUs > 0 ? selfUs / this.#selfUs : 0,
    }));
    return rows.sort((a, b) => b.selfMs - a.selfMs);
  }
}

function summarizeCounters(records: readonly CounterRecord[]): CounterSummary[] {
  const byName = new Map<string, CounterRecord[]>();
  for (const record of records) {
    const known = byName.get(record.name);
    if (known === undefined) byName.set(record.name, [record]);
    else known.push(record);
  }
  return [...byName].map(([name, samples]) => {
    let [min, max, sum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
    let last = samples[0]!;
    for (const sample of samples) {
      min = Math.min(min, sample.value);
      max = Math.max(max, sample.value);
      sum += sample.value;
      if (sample.timeUs >= last.timeUs) last = sample;
    }
    return { name, count: samples.length, min, mean: sum / samples.length, max, last: last.value };
  });
}
