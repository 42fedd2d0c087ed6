/**
 * @file Where the time of steps goes: in kernels, in waits, or outside of both, which is JavaScript.
 *
 * Looked at are threads that ran phases, from their first phase to the end of their last, so that starting up and
 * saving at the end do not count. A phase is a list of kernels that runs inside WebAssembly;
 * waits inside of one are not counted for it.
 */
import type { SpanRecord, TraceRow } from './read-chrome-trace.js';
import { compareNesting } from './self-times.js';

export interface StepShares {
  /** Time of all such threads together. */
  readonly windowMs: number;
  /** Parts of `windowMs`: they add up to 1. */
  readonly kernels: number;
  readonly waits: number;
  readonly javascript: number;
  /** `waits` by name, most time first. */
  readonly waitsByName: readonly { readonly name: string; readonly share: number }[];
}

/** Null when no thread ran a phase. */
export function stepShares(rows: readonly TraceRow[]): StepShares | null {
  let [windowUs, phaseUs] = [0, 0];
  const waitUs = new Map<string, number>();
  for (const { spans } of rows) {
    const phases = spans.filter(({ category }) => category === 'phase');
    if (phases.length === 0) continue;
    const start = phases.reduce((first, { startUs }) => Math.min(first, startUs), Number.POSITIVE_INFINITY);
    const end = phases.reduce((last, span) => Math.max(last, endOf(span)), 0);
    windowUs += end - start;
    let phaseEnd = 0;
    for (const span of [...spans].sort(compareNesting)) {
      if (span.category === 'phase') {
        phaseUs += span.durationUs;
        phaseEnd = endOf(span);
      }
      if (span.category !== 'wait') continue;
      const us = Math.min(endOf(span), end) - Math.max(span.startUs, start);
      if (us <= 0) continue;
      waitUs.set(span.name, (waitUs.get(span.name) ?? 0) + us);
      // Only what lies inside the phase: a wait right behind one may begin a rounding before its end.
      phaseUs -= Math.max(0, Math.min(endOf(span), phaseEnd) - span.startUs);
    }
  }
  if (windowUs === 0) return null;
  const waitsByName = [...waitUs]
    .map(([name, us]) => ({ name, share: us / windowUs }))
    .sort((a, b) => b.share - a.share);
  const waits = waitsByName.reduce((sum, { share }) => sum + share, 0);
  const kernels = phaseUs / windowUs;
  return { windowMs: windowUs / 1000, kernels, waits, javascript: Math.max(0, 1 - kernels - waits), waitsByName };
}

function endOf(span: SpanRecord): number {
  return span.startUs + span.durationUs;
}
