/**
 * @file What bench/ffm.ts measures, one function each: speed over threads, the main thread, its heap, tracing,
 * backends.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mainThreadCpuMs } from './clocks.js';
import { FfmRun, type FfmRunOptions, type Turn } from './ffm-run.js';
import { median } from './harness.js';
import { medianOf, type RoundOptions, type Rounds, ratioOf, takeTurns } from './rounds.js';

export interface MeasureOptions extends RoundOptions {
  /** Length of one system's turn. */
  readonly turnMs: number;
  readonly warmUpMs: number;
  /** Examples of the data set; the demo's number unless told. */
  readonly examples?: number;
}

/** Opens the runs, hands them over warmed up with the steps of one turn, and closes them. */
export async function withRuns<T>(
  all: readonly FfmRunOptions[],
  options: MeasureOptions,
  use: (runs: readonly FfmRun[], steps: readonly number[]) => Promise<T>,
): Promise<T> {
  const runs: FfmRun[] = [];
  try {
    const { examples } = options;
    for (const one of all) runs.push(await FfmRun.start({ ...one, ...(examples && { examples }) }));
    const steps: number[] = [];
    for (const run of runs) steps.push(await run.warmUp(options.warmUpMs, options.turnMs));
    return await use(runs, steps);
  } finally {
    await Promise.all(runs.map((run) => run.close()));
  }
}

const stepUs = (turn: Turn) => turn.stepUs;
const cpuUs = (turn: Turn) => turn.cpuUs;

/** Turns of each run. */
function turnsOf(runs: readonly FfmRun[], steps: readonly number[], options: MeasureOptions): Promise<Rounds<Turn>> {
  return takeTurns(
    runs.map((run, i) => () => run.train(steps[i]!)),
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
  /**
   * The same if every thread had a core of its own and never waited: CPU time of a step with one thread over CPU time
   * with several, times their number. It holds on a busy machine too, but knows nothing of waiting.
   */
  readonly cpuSpeedup: number;
  /** Share of one core that other processes used in the rounds that count. */
  readonly foreignShare: number;
}

export function measureScaling(vocab: number, batchSize: number, options: MeasureOptions): Promise<Scaling> {
  const threads = [1, 2];
  const systems = threads.map((count) => ({ vocab, batchSize, threads: count }));
  return withRuns(systems, options, async (runs, steps) => {
    const rounds = await turnsOf(runs, steps, options);
    const examplesPerS = runs.map((_, i) => (batchSize * 1e6) / medianOf(rounds, i, stepUs));
    const last = threads.length - 1;
    const [speedup, cpuSpeedup] = [ratioOf(rounds, 0, last, stepUs), threads[last]! * ratioOf(rounds, 0, last, cpuUs)];
    return { vocab, batchSize, threads, examplesPerS, speedup, cpuSpeedup, foreignShare: rounds.foreignShare };
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
  readonly foreignShare: number;
}

/** What the main thread does while the pool trains. */
export function measureMainThread(batchSize: number, threads: number, options: MeasureOptions): Promise<MainThread> {
  return withRuns([{ batchSize, threads }], options, async ([run], [steps]) => {
    const turn = async () => {
      const loop = performance.eventLoopUtilization();
      const before = mainThreadCpuMs();
      const { stepUs } = await run!.train(steps!);
      const mainUs = ((mainThreadCpuMs() - before) * 1000) / steps!;
      return { stepUs, mainUs, share: mainUs / stepUs, loop: performance.eventLoopUtilization(loop).utilization };
    };
    const rounds = await takeTurns([turn], options);
    return {
      ...{ batchSize, threads, stepUs: medianOf(rounds, 0, (t) => t.stepUs) },
      ...{ cpuUsPerStep: medianOf(rounds, 0, (t) => t.mainUs), cpuShare: medianOf(rounds, 0, (t) => t.share) },
      ...{ loopShare: medianOf(rounds, 0, (t) => t.loop), foreignShare: rounds.foreignShare },
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
  /** CPU time with tracing on over that of the same session with its rings switched off. */
  readonly cpuOnOverOff: number;
  readonly foreignShare: number;
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
    const [onOverNone, onOverOff] = [ratioOf(rounds, 1, 0, stepUs), ratioOf(rounds, 1, 2, stepUs)];
    const cpuOnOverOff = ratioOf(rounds, 1, 2, cpuUs);
    return { batchSize, onOverNone, onOverOff, cpuOnOverOff, foreignShare: rounds.foreignShare };
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
    const rounds = await turnsOf(runs, steps, options);
    return { batchSize, referenceOverWasm: ratioOf(rounds, 1, 0, stepUs) };
  });
}
