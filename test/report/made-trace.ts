/** @file A trace of any size: steps of threads with kernels inside, waits between, and the depth of a queue. */
import type { ChromeTrace, SpanRecord } from '../../src/trace/read-chrome-trace.js';

const KERNELS = ['gemmF32 deep/MatMul', 'poolSumF32 embedding', 'tableApply update/userId'];
const STEP_US = 100;

/** Each step of a thread has a phase, three kernels and a wait: five spans. */
export function madeTrace(steps: number, threads = 2): ChromeTrace {
  const rows = Array.from({ length: threads }, (_, thread) => {
    const spans: SpanRecord[] = [];
    for (let step = 0; step < steps; step++) {
      const startUs = 50 + step * STEP_US;
      spans.push({ name: 'forward and backward', category: 'phase', startUs, durationUs: 70 });
      for (const [at, name] of KERNELS.entries()) {
        spans.push({ name, category: 'kernel', startUs: startUs + at * 20, durationUs: 15 + thread });
      }
      spans.push({ name: 'wait for a command', category: 'wait', startUs: startUs + 75, durationUs: 20 });
    }
    return { name: `pool ${thread}`, sortIndex: thread, lost: thread, spans, startUs: 50 };
  });
  const counters = Array.from({ length: steps }, (_, step) => ({
    ...{ name: 'batches ready', timeUs: 50 + step * STEP_US, value: step % 7 },
  }));
  return { rows, counters, startUs: 50, endUs: 50 + steps * STEP_US };
}
