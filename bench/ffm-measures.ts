/** @file What bench/ffm.ts measures, one function each: speed over threads, the main thread, its heap, tracing, backends. */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mainThreadCpuMs } from './clocks.js';
import { FfmRun, type FfmRunOptions } from './ffm-run.js';
import { median } from './harness.js';
import { type RoundOptions, ratioOf, takeTurns } from './rounds.js';

export interface MeasureOptions extends RoundOptions {
  /** Length of one system's turn. */
  readonly turnMs: number;
  readonly warmUpMs: number;
}

/** Opens the runs, hands them over warmed up with the steps of one turn, and closes them. */
async function withRuns<T>(
  all: readonly FfmRunOptions[],
  options: MeasureOptions,
  use: (runs: readonly FfmRun[], steps: readonly number[]) => Promise<T>,
): Promise<T> {
  const runs: FfmRun[] = [];
  try {
    for (const one of all) runs.push(await FfmRun.start(one));
    const steps: number[] = [];
    for (const run of runs) {
      const perWarmUp = await run.warmUp(options.warmUpMs);
      steps.push(Math.max(1, Math.round((perWarmUp * options.turnMs) / options.warmUpMs)));
    }
    return await use(runs, steps);
  } finally {
    await Promise.all(runs.map((run) => run.close()));
  }
}

/** Milliseconds per step of each run, taking turns. */
function stepTimes(runs: readonly FfmRun[], steps: readonly number[], options: MeasureOptions) {
  return takeTurns(
    runs.map((run, i) => async () => (await run.train(steps[i]!)) / steps[i]!),
    options,
  );
}

export interface Scaling {
  readonly vocab: number;
  readonly batchSize: number;
  readonly threads: readonly number[];
  /** Median speed for each number of threads. */
  readonly examplesPerS: readonly number[];
  /** Speed with the most threads over speed with one: median of the rounds' own ratios. */
  readonly speedup: number;
  readonly quietRounds: number;
}

export function measureScaling(vocab: number, batchSize: number, options: MeasureOptions): Promise<Scaling> {
  const threads = [1, 2];
  const systems = threads.map((count) => ({ vocab, batchSize, threads: count }));
  return withRuns(systems, options, async (runs, steps) => {
    const rounds = await stepTimes(runs, steps, options);
    const examplesPerS = rounds.values.map((ms) => (batchSize * 1000) / median(ms));
    const speedup = ratioOf(rounds, 0, threads.length - 1);
    return { vocab, batchSize, threads, examplesPerS, speedup, quietRounds: rounds.quietCount };
  });
}

export interface MainThread {
  readonly batchSize: number;
  readonly threads: number;
  readonly stepUs: number;
  /** CPU time of the main thread per step, and over the time of the step. NaN where the system does not tell. */
  readonly cpuUsPerStep: number;
  readonly cpuShare: number;
  /** Share of the time the event loop was not waiting; includes time the thread wanted a core and had none. */
  readonly loopShare: number;
}

/** What the main thread does while the pool trains. */
export function measureMainThread(batchSize: number, threads: number, options: MeasureOptions): Promise<MainThread> {
  return withRuns([{ batchSize, threads }], options, async ([run], [steps]) => {
    const shares: { stepUs: number; cpuUs: number; cpuShare: number; loopShare: number }[] = [];
    const turn = async () => {
      const loop = performance.eventLoopUtilization();
      const cpuMs = mainThreadCpuMs();
      const ms = await run!.train(steps!);
      const cpu = mainThreadCpuMs() - cpuMs;
      const { utilization } = performance.eventLoopUtilization(loop);
      const stepUs = (ms * 1000) / steps!;
      shares.push({ stepUs, cpuUs: (cpu * 1000) / steps!, cpuShare: cpu / ms, loopShare: utilization });
      return ms;
    };
    await takeTurns([turn], options);
    const medianOf = (pick: (share: (typeof shares)[number]) => number) => median(shares.map(pick));
    return {
      ...{ batchSize, threads, stepUs: medianOf((s) => s.stepUs), cpuUsPerStep: medianOf((s) => s.cpuUs) },
      ...{ cpuShare: medianOf((s) => s.cpuShare), loopShare: medianOf((s) => s.loopShare) },
    };
  });
}

export interface HeapUse {
  readonly batchSize: number;
  readonly steps: number;
  /** Bytes a step allocates on the main thread's heap: median over stretches without a collection. */
  readonly allocatedPerStep: number;
  /** Bytes per step that are still there after a full collection at the end. */
  readonly retainedPerStep: number;
  readonly collections: number;
}

/** Steps between two readings; what they allocate must fit the young generation. */
const STRETCH_STEPS = 100;

/** The main thread's heap over `steps` steps. */
export function measureHeap(batchSize: number, steps: number, options: MeasureOptions): Promise<HeapUse> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => getHeapStatistics().used_heap_size;
  return withRuns([{ batchSize, threads: 2 }], options, async ([run]) => {
    let collections = 0;
    const observer = new PerformanceObserver((list) => {
      collections += list.getEntries().length;
    });
    observer.observe({ entryTypes: ['gc'] });
    collect();
    const begin = used();
    const stretches: number[] = [];
    for (let done = 0; done < steps; done += STRETCH_STEPS) {
      const before = used();
      await run!.train(STRETCH_STEPS);
      // After a collection there is less than before; such a stretch tells nothing about what was allocated.
      const grown = used() - before;
      if (grown > 0) stretches.push(grown / STRETCH_STEPS);
    }
    collect();
    const retainedPerStep = (used() - begin) / steps;
    observer.disconnect();
    return { batchSize, steps, allocatedPerStep: median(stretches), retainedPerStep, collections };
  });
}

export interface TraceCost {
  readonly batchSize: number;
  /** Step time with tracing on over step time of a session without rings, as the command line runs it. */
  readonly onOverNone: number;
  /** Step time with tracing on over the same session with its rings switched off: no difference in memory layout. */
  readonly onOverOff: number;
  readonly quietRounds: number;
}

export function measureTraceCost(batchSize: number, options: MeasureOptions): Promise<TraceCost> {
  const base = { batchSize, threads: 2 };
  const systems = [base, { ...base, traceEvents: 1 << 16 }];
  return withRuns(systems, options, async ([plain, traced], [steps]) => {
    const turn = (run: FfmRun, tracing: boolean) => async () => {
      run.tracing = tracing;
      return run.train(steps!);
    };
    const rounds = await takeTurns([turn(plain!, false), turn(traced!, true), turn(traced!, false)], options);
    const [onOverNone, onOverOff] = [ratioOf(rounds, 1, 0), ratioOf(rounds, 1, 2)];
    return { batchSize, onOverNone, onOverOff, quietRounds: rounds.quietCount };
  });
}

export interface BackendRatio {
  readonly batchSize: number;
  /** Step time of the plain TypeScript backend over that of WASM, one thread. */
  readonly referenceOverWasm: number;
}

export function measureBackends(batchSize: number, options: MeasureOptions): Promise<BackendRatio> {
  const systems = (['wasm', 'reference'] as const).map((backend) => ({ batchSize, threads: 1, backend }));
  return withRuns(systems, options, async (runs, steps) => {
    const rounds = await stepTimes(runs, steps, options);
    return { batchSize, referenceOverWasm: ratioOf(rounds, 1, 0) };
  });
}
