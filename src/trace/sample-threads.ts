/**
 * @file What every thread is doing: its trace ring is watched for a moment, and summed up.
 *
 * Rings that are off are switched on for that moment. A ring holds what has ended; a thread in one long kernel, or
 * asleep until there is a step, ends nothing, and the text says so.
 */
import type { LiveTrace } from './live-traces.js';
import { snapshotRing } from './read-ring.js';
import { compareNesting, selfTimesUs } from './self-times.js';
import { threadTimeline } from './thread-timeline.js';
import type { TraceNames } from './trace-names.js';
import type { TraceRing } from './trace-ring.js';

export interface ThreadActivity {
  readonly thread: string;
  /** Share of the moment by name, the largest first. */
  readonly shares: readonly { readonly name: string; readonly share: number }[];
  /** What ended last, in the moment or before it; null when nothing was recorded ever. */
  readonly last: string | null;
}

/** Watches the threads of a session for `ms`. */
export async function sampleThreads(trace: LiveTrace, ms: number): Promise<ThreadActivity[]> {
  const watched = trace.threads.map(({ name, ring }) => ({ name, ring, wasOn: ring.on, since: ring.written }));
  for (const { ring } of watched) ring.on = true;
  const start = performance.now();
  await new Promise((resolve) => setTimeout(resolve, ms));
  const lengthUs = (performance.now() - start) * 1000;
  // Somebody may have switched them meanwhile, for a window of the profiler: what was on stays on.
  for (const { ring, wasOn } of watched) ring.on = wasOn;
  return watched.map(({ name, ring, since }) => ({
    thread: name,
    shares: sharesOf(ring, since, trace.names, lengthUs),
    last: lastOf(ring, trace.names),
  }));
}

function sharesOf(ring: TraceRing, since: number, names: TraceNames, lengthUs: number): ThreadActivity['shares'] {
  const snapshot = snapshotRing(ring, since);
  const { items } = threadTimeline(snapshot, Number.NEGATIVE_INFINITY);
  const spans = items.flatMap((item) => {
    return item.kind === 'span' ? [{ ...item, startUs: item.timeMs * 1000 }] : [];
  });
  spans.sort(compareNesting);
  // A ring too small for the moment holds its end.
  const firstUs = spans[0]?.startUs ?? 0;
  const heldUs = spans.reduce((most, { startUs, durationUs }) => Math.max(most, startUs + durationUs), 0) - firstUs;
  const ofUs = snapshot.lost > 0 ? heldUs : lengthUs;
  const times = new Map<string, number>();
  for (const [index, us] of selfTimesUs(spans).entries()) {
    const { name } = names.get(spans[index]!.nameId);
    times.set(name, (times.get(name) ?? 0) + us);
  }
  const shares = [...times].map(([name, us]) => ({ name, share: Math.min(1, us / ofUs) }));
  return shares.sort((a, b) => b.share - a.share);
}

function lastOf(ring: TraceRing, names: TraceNames): string | null {
  const { items } = threadTimeline(snapshotRing(ring, Math.max(0, ring.written - 1)), Number.NEGATIVE_INFINITY);
  const last = items.at(-1);
  return last === undefined ? null : names.get(last.nameId).name;
}
