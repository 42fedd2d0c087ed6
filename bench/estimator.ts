/**
 * @file What an estimator costs: `npm run bench -- estimator [--quick --json]`.
 *
 * Two trainings of a model of ctr-ref take turns over the same batches: a loop of a few lines that hands a session as
 * many steps at once as it takes, and `Estimator.train` as people call it, with its hooks, its progress and its signal.
 */
import { batchList } from '../src/data/batch-list.js';
import { loadBatches } from '../src/data/resident-batches.js';
import type { PartialBatchData } from '../src/memory/batch.js';
import { type Fetch, Session } from '../src/runtime/session/session.js';
import { Estimator } from '../src/train/estimator/estimator.js';
import { buildCtr, CTR_SCHEMA, type CtrModel } from './ctr-models.js';
import { ctrBatches } from './cut.js';
import { benchMain, type Machine, machine, machineText, median, table } from './harness.js';
import { medianInterval, type RoundOptions, ratiosOf, takeTurns } from './rounds.js';
import { Turnstile } from './turnstile.js';

const CASES: readonly (readonly [CtrModel, batch: number])[] = [
  ['ffm', 512],
  ['deepfm', 4096],
];
const FULL = { batches: 16, turnMs: 1000, warmUpMs: 1500, rounds: 17, roundsMax: 21 };
const QUICK = { batches: 3, turnMs: 10, warmUpMs: 10, rounds: 1, roundsMax: 1 };
const MEMORY_BYTES = 2 ** 30;

interface Cost {
  readonly model: CtrModel;
  readonly batch: number;
  readonly pairs: number;
  /** Time of a step of the bare loop, the median. */
  readonly stepUs: number;
  /** Time of a step by the estimator over that of the loop: median over pairs, with its 95 % interval. */
  readonly timeRatio: number;
  readonly timeInterval: readonly [number, number];
  readonly cpuRatio: number;
  readonly cpuInterval: readonly [number, number];
  readonly foreignShare: number;
}

export interface EstimatorReport extends Machine {
  readonly results: readonly Cost[];
}

type Options = RoundOptions & { readonly batches: number; readonly turnMs: number; readonly warmUpMs: number };

export async function runEstimatorBench({ quick = false }: { quick?: boolean } = {}): Promise<EstimatorReport> {
  const results: Cost[] = [];
  for (const [model, batch] of CASES) results.push(await costOf(model, quick ? 64 : batch, quick ? QUICK : FULL));
  return { ...machine(), results };
}

interface Turn {
  readonly stepUs: number;
  readonly cpuUs: number;
}

interface Run {
  train(steps: number): Promise<void>;
  close(): Promise<void>;
}

async function costOf(model: CtrModel, batch: number, options: Options): Promise<Cost> {
  const data = [...ctrBatches({ batch, batches: options.batches })];
  const runs: Run[] = [];
  try {
    runs.push(await bareLoop(model, batch, data), estimatorRun(model, batch, data));
    const steps: number[] = [];
    for (const run of runs) steps.push(await warmUp(run, options));
    // The same number for both: what a turn costs beside its steps is then the same share of both.
    const most = Math.max(...steps);
    const rounds = await takeTurns(
      runs.map((run) => () => timed(run, most)),
      options,
    );
    const time = ratiosOf(rounds, 1, 0, ({ stepUs }) => stepUs);
    const cpu = ratiosOf(rounds, 1, 0, ({ cpuUs }) => cpuUs);
    return {
      model,
      batch,
      pairs: time.length,
      stepUs: median(rounds.values[0]!.map(({ stepUs }) => stepUs)),
      timeRatio: median(time),
      timeInterval: medianInterval(time),
      cpuRatio: median(cpu),
      cpuInterval: medianInterval(cpu),
      foreignShare: rounds.foreignShare,
    };
  } finally {
    for (const run of runs) await run.close();
  }
}

async function bareLoop(model: CtrModel, batchSize: number, data: readonly PartialBatchData[]): Promise<Run> {
  const { graph, trainOp } = buildCtr(model);
  const session = await Session.create(graph, { schema: CTR_SCHEMA, batchSize, threads: 2, memoryBytes: MEMORY_BYTES });
  const batches = loadBatches(session, data);
  const fetches: readonly Fetch[] = [trainOp];
  let at = 0;
  return {
    train: async (steps) => {
      const most = session.stepsAheadMax(fetches);
      for (let left = steps; left > 0; ) {
        const count = Math.min(left, most);
        await session.runSteps(
          fetches,
          Array.from({ length: count }, () => batches[at++ % batches.length]!),
        );
        left -= count;
      }
    },
    close: () => session.close(),
  };
}

function estimatorRun(name: CtrModel, batchSize: number, data: readonly PartialBatchData[]): Run {
  const model = { name, schema: { specs: CTR_SCHEMA }, build: () => buildCtr(name) };
  const estimator = new Estimator(model, { batchSize, threads: 2, session: { memoryBytes: MEMORY_BYTES } });
  const turnstile = new Turnstile();
  const batches = batchList(data);
  const gated: typeof batches = {
    ...batches,
    open: async (session, options) => {
      const input = await batches.open(session, options);
      const close = async () => input.close?.();
      return { batchesAhead: input.batchesAhead!, next: turnstile.gate(() => input.next()), close };
    },
  };
  const { signal } = new AbortController();
  const training = estimator.train(gated, {
    steps: Number.MAX_SAFE_INTEGER,
    hooks: [turnstile],
    onProgress: () => {},
    signal,
  });
  return {
    train: async (steps) => void (await Promise.race([turnstile.pass(steps), training])),
    close: async () => {
      turnstile.close();
      try {
        await training;
      } finally {
        await estimator.close();
      }
    },
  };
}

async function timed(run: Run, steps: number): Promise<Turn> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await run.train(steps);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { stepUs: (ms * 1000) / steps, cpuUs: (user + system) / steps };
}

/** Trains for a while and returns the steps of a turn. */
async function warmUp(run: Run, { warmUpMs, turnMs }: Options): Promise<number> {
  let usedUs = 0;
  let stepUs = 1;
  for (let burst = 1; usedUs < warmUpMs * 1000; burst = Math.min(burst * 2, 4096)) {
    ({ stepUs } = await timed(run, burst));
    usedUs += stepUs * burst;
  }
  return Math.max(1, Math.round((turnMs * 1000) / stepUs));
}

await benchMain(import.meta.url, runEstimatorBench, (report) => {
  const spread = (ratio: number, [low, high]: readonly [number, number]) =>
    `${ratio.toFixed(4)} (${low.toFixed(4)} to ${high.toFixed(4)})`;
  const rows = report.results.map((result) => [
    result.model,
    String(result.batch),
    String(result.pairs),
    result.stepUs.toFixed(0),
    spread(result.timeRatio, result.timeInterval),
    spread(result.cpuRatio, result.cpuInterval),
    result.foreignShare.toFixed(2),
  ]);
  const head = ['model', 'batch', 'pairs', 'step, us', 'time over the loop', 'CPU time over the loop', 'others'];
  return `${machineText(report)}\n${table(head, rows)}`;
});
