/**
 * @file What hooks cost: `npm run bench -- hooks [--quick --json]`.
 *
 * Two trainings of the FFM demo take turns: one with what every training has, and one with all ready hooks besides, at
 * intervals people use. The second has rings for profiles, which are off between windows. Its evaluations are a part of
 * the cost, and the steps they follow are longer for them. CPU time is what to look at on a machine that others use:
 * its ratio comes with a range that holds the median 95 times in 100.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { heldOutOf, loadFfmBatches } from '../src/demo/ffm-dataset.js';
import { BarrierHook, BarrierOp } from '../src/train/hooks/barrier.js';
import { LocalControlKv } from '../src/train/hooks/control-kv.js';
import { CsvLogHook } from '../src/train/hooks/csv-log.js';
import { EarlyStopping } from '../src/train/hooks/early-stopping.js';
import { EvaluationHook } from '../src/train/hooks/evaluation.js';
import type { TrainHook } from '../src/train/hooks/hook.js';
import { KeepBest } from '../src/train/hooks/keep-best.js';
import { ProfilerHook } from '../src/train/hooks/profiler.js';
import { ProgressHook } from '../src/train/hooks/progress.js';
import { QueryActionHook } from '../src/train/hooks/query-action.js';
import { CustomGlobalStepWaiterHook } from '../src/train/hooks/step-waiter.js';
import { ChiefSyncHook, SyncHelper } from '../src/train/hooks/sync-hooks.js';
import { ThroughputMetricHook } from '../src/train/hooks/throughput.js';
import { TideStoppingHook } from '../src/train/hooks/tide.js';
import type { ModelSpec } from '../src/train/model-spec.js';
import { type MeasureOptions, withRuns } from './ffm-measures.js';
import { benchMain, type Machine, machine, machineText, table } from './harness.js';
import { medianInterval, ratioOf, ratiosOf, takeTurns } from './rounds.js';

const BATCH_SIZES = [512, 4096];
const TRACE_EVENTS = 1 << 16;
/**
 * A second a turn: long enough for evaluations, rows of the log and windows of the profiler to fall into most of them.
 */
const FULL: MeasureOptions = { rounds: 15, roundsMax: 19, turnMs: 1500, warmUpMs: 2000 };
const QUICK: MeasureOptions = { rounds: 1, roundsMax: 1, turnMs: 20, warmUpMs: 20, examples: 1024 };
/** Held-out batches of an evaluation. */
const EVAL_BATCHES = 8;

export interface HooksReport extends Machine {
  readonly results: readonly {
    readonly batchSize: number;
    /** Hooks that were on. */
    readonly hooks: number;
    /** Step time with hooks over step time without. */
    readonly timeRatio: number;
    readonly cpuRatio: number;
    readonly cpuInterval: readonly [low: number, high: number];
    readonly foreignShare: number;
  }[];
}

export async function runHooksBench({ quick = false }: { quick?: boolean } = {}): Promise<HooksReport> {
  const options = quick ? QUICK : FULL;
  const dir = mkdtempSync(join(tmpdir(), 'monolith-bench-'));
  const results: HooksReport['results'][number][] = [];
  try {
    for (const batchSize of quick ? [64] : BATCH_SIZES) {
      let count = 0;
      const hooks = (model: ModelSpec) => {
        const all = allHooks(model, batchSize, dir);
        count = all.length;
        return all;
      };
      const base = { batchSize, threads: 2 };
      const systems = [base, { ...base, traceEvents: TRACE_EVENTS, hooks }];
      const result = await withRuns(systems, options, async ([plain, full], [steps]) => {
        const rounds = await takeTurns([() => plain!.train(steps!), () => full!.train(steps!)], options);
        return {
          batchSize,
          hooks: count,
          timeRatio: ratioOf(rounds, 1, 0, ({ stepUs }) => stepUs),
          cpuRatio: ratioOf(rounds, 1, 0, ({ cpuUs }) => cpuUs),
          cpuInterval: medianInterval(ratiosOf(rounds, 1, 0, ({ cpuUs }) => cpuUs)),
          foreignShare: rounds.foreignShare,
        };
      });
      results.push(result);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return { ...machine(), results };
}

function allHooks(model: ModelSpec, batchSize: number, dir: string): TrainHook[] {
  const csv = new CsvLogHook({ file: join(dir, `log-${batchSize}.csv`), loss: model.loss, batchSize });
  const heldOut = heldOutOf({ kind: 'clicks', vocab: 5, batchSize, seed: 1 });
  const kv = new LocalControlKv();
  const evaluation = new EvaluationHook({
    model,
    batches: (session) => loadFfmBatches(session, heldOut).slice(0, EVAL_BATCHES),
    everySteps: 2000,
    listeners: [
      csv,
      new EarlyStopping({ metric: 'auc', patience: 1_000_000 }),
      new KeepBest({ dir: join(dir, `best-${batchSize}`), metric: 'auc', minDelta: 0.01 }),
    ],
  });
  return [
    csv,
    evaluation,
    new ProgressHook({ loss: model.loss, batchSize, onProgress: () => {} }),
    new ThroughputMetricHook({ modelName: model.name, batchSize, everySeconds: 1 }),
    new ProfilerHook({ dir, everySteps: 5000 }),
    new TideStoppingHook({ startHour: 0, endHour: 24 }),
    new CustomGlobalStepWaiterHook({ waitUntilStep: 0 }),
    new QueryActionHook({ modelDir: dir, triggerSave: async () => undefined, querySeconds: 1 }),
    new ChiefSyncHook(new SyncHelper(1, kv)),
    new BarrierHook(1, new BarrierOp({ capacity: 2, kv })),
  ];
}

await benchMain(import.meta.url, runHooksBench, (report) => {
  const rows = report.results.map(({ batchSize, hooks, timeRatio, cpuRatio, cpuInterval, foreignShare }) => [
    String(batchSize),
    String(hooks),
    timeRatio.toFixed(3),
    cpuRatio.toFixed(3),
    cpuInterval.map((end) => end.toFixed(3)).join(' to '),
    foreignShare.toFixed(2),
  ]);
  const head = ['batch', 'hooks', 'time over none', 'CPU time over none', '95 %', 'share of a core of others'];
  return `${machineText(report)}\n${table(head, rows)}`;
});
