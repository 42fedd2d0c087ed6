/**
 * @file What cutting a step costs, and what a prefetch hides: `npm run bench -- cut [--quick --json]`.
 *
 * Four trainings of a model of ctr-ref take turns over the same batches: steps in one piece; cut, with rows of the
 * session's own tables; with a store that is called, a prefetch of 1 and postpush; and the same where each pull takes
 * half a step longer. A thread keeps that half step (delays.ts), since a timer counts whole milliseconds. What the
 * delays took is printed beside what they should.
 *
 * A turn is as many passes over the batches as take a quarter of a second, with one drain at its end: turns of a single
 * pass, 30 ms at the small model, differed by half. Ratios come with a range that holds the median 95 times in 100.
 */
import { loadBatches } from '../src/data/resident-batches.js';
import type { PartialBatchData } from '../src/memory/batch.js';
import { LocalRows, type RowStore } from '../src/runtime/session/row-store.js';
import { type Fetch, Session, type SessionOptions } from '../src/runtime/session/session.js';
import { buildCtr, CTR_SCHEMA, type CtrModel } from './ctr-models.js';
import { CATEGORIES, DENSE, generateCtr } from './ctr-ref.js';
import { Delays } from './delays.js';
import { benchMain, type Machine, machine, machineText, table } from './harness.js';
import { medianInterval, type RoundOptions, ratioOf, ratiosOf, takeTurns } from './rounds.js';

const MODELS: readonly CtrModel[] = ['ffm', 'deepfm'];
const MEMORY_BYTES = 2 ** 30;
const FULL = { batch: 4096, batches: 16, turnMs: 250, rounds: 15, roundsMax: 19 };
const QUICK = { batch: 64, batches: 3, turnMs: 1, rounds: 1, roundsMax: 1 };

interface CutResult {
  readonly model: CtrModel;
  readonly batch: number;
  /** Time of a step in one piece. */
  readonly stepMs: number;
  /** Time of a cut step over that. */
  readonly cutRatio: number;
  readonly cutInterval: readonly [low: number, high: number];
  /** Of a step whose rows come half a step late over one whose rows do not, both with a prefetch of 1 and postpush. */
  readonly delayRatio: number;
  readonly delayInterval: readonly [low: number, high: number];
  /** The delay of a pull as it should be, and its mean as it was. */
  readonly delayMs: number;
  readonly delayTookMs: number;
  readonly foreignShare: number;
}

export interface CutReport extends Machine {
  readonly results: readonly CutResult[];
}

export async function runCutBench({ quick = false }: { quick?: boolean } = {}): Promise<CutReport> {
  const results: CutResult[] = [];
  for (const model of MODELS) results.push(await compare(model, quick ? QUICK : FULL));
  return { ...machine(), results };
}

type Options = RoundOptions & { readonly batch: number; readonly batches: number; readonly turnMs: number };

/** Rows of the session, after `delayMs`. */
class LateRows implements RowStore {
  readonly #local = new LocalRows();
  readonly #delays: Delays;
  delayMs = 0;

  constructor(delays: Delays) {
    this.#delays = delays;
  }

  async pull(lease: Parameters<RowStore['pull']>[0]): Promise<void> {
    if (this.delayMs > 0) await this.#delays.wait(this.delayMs);
    await this.#local.pull(lease);
  }

  push(lease: Parameters<RowStore['push']>[0]): Promise<void> {
    return this.#local.push(lease);
  }
}

async function compare(model: CtrModel, options: Options): Promise<CutResult> {
  const data = [...ctrBatches(options)];
  const delays = new Delays();
  const late = new LateRows(delays);
  const ahead = { prefetch: 1, postpush: true };
  const ways: Partial<SessionOptions>[] = [
    {},
    { rows: new LocalRows() },
    { ...ahead, rows: new LateRows(delays) },
    { ...ahead, rows: late },
  ];
  const runs: Run[] = [];
  try {
    for (const way of ways) runs.push(await Run.start(model, options.batch, way, data));
    // The first passes insert rows: they are slower than those that follow.
    for (const run of [...runs, ...runs]) await run.stepMs(1);
    const stepMs = await runs[0]!.stepMs(1);
    const passes = Math.max(1, Math.round(options.turnMs / (stepMs * options.batches)));
    for (const run of runs) await run.stepMs(passes);
    late.delayMs = (await runs[0]!.stepMs(passes)) / 2;
    const rounds = await takeTurns(
      runs.map((run) => () => run.stepMs(passes)),
      options,
    );
    const whole = rounds.values.map(([first]) => first!).sort((a, b) => a - b);
    return {
      model,
      batch: options.batch,
      stepMs: whole[whole.length >> 1]!,
      cutRatio: ratioOf(rounds, 1, 0, (ms) => ms),
      cutInterval: medianInterval(ratiosOf(rounds, 1, 0, (ms) => ms)),
      delayRatio: ratioOf(rounds, 3, 2, (ms) => ms),
      delayInterval: medianInterval(ratiosOf(rounds, 3, 2, (ms) => ms)),
      delayMs: late.delayMs,
      delayTookMs: delays.meanMs,
      foreignShare: rounds.foreignShare,
    };
  } finally {
    for (const run of runs) await run.close();
    await delays.close();
  }
}

export function* ctrBatches({
  batch,
  batches,
}: {
  readonly batch: number;
  readonly batches: number;
}): Generator<PartialBatchData> {
  const { labels, dense, ids } = generateCtr(batch * batches, 1);
  for (let n = 0; n < batches; n++) {
    const rows = <A extends { subarray(from: number, to: number): A }>(values: A, width: number) =>
      values.subarray(n * batch * width, (n + 1) * batch * width);
    yield {
      rows: batch,
      feeds: [
        { kind: 'dense', values: rows(labels, 1) },
        { kind: 'dense', values: rows(dense, DENSE) },
        { kind: 'ids', values: rows(ids, CATEGORIES) },
      ],
    };
  }
}

class Run {
  readonly #session: Session;
  readonly #train: readonly Fetch[];
  readonly #batches: readonly number[];

  private constructor(session: Session, train: readonly Fetch[], batches: readonly number[]) {
    this.#session = session;
    this.#train = train;
    this.#batches = batches;
  }

  static async start(
    model: CtrModel,
    batchSize: number,
    way: Partial<SessionOptions>,
    data: readonly PartialBatchData[],
  ): Promise<Run> {
    const { graph, trainOp } = buildCtr(model);
    const options = { schema: CTR_SCHEMA, batchSize, threads: 2, memoryBytes: MEMORY_BYTES, ...way };
    const session = await Session.create(graph, options);
    return new Run(session, [trainOp], loadBatches(session, data));
  }

  /** Time of a step over so many passes of the batches. */
  async stepMs(passes: number): Promise<number> {
    const most = this.#session.stepsAheadMax(this.#train);
    const batches = Array.from({ length: passes }, () => this.#batches).flat();
    const start = performance.now();
    for (let n = 0; n < batches.length; n += most) {
      const next = batches.slice(n, n + most);
      await this.#session.runSteps(this.#train, next, batches.slice(n + most, n + most + 1));
    }
    await this.#session.drain();
    return (performance.now() - start) / batches.length;
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

await benchMain(import.meta.url, runCutBench, (report) => {
  const range = (ends: readonly number[]) => ends.map((end) => end.toFixed(3)).join(' to ');
  const rows = report.results.map((result) => [
    result.model,
    String(result.batch),
    result.stepMs.toFixed(2),
    result.cutRatio.toFixed(3),
    range(result.cutInterval),
    result.delayRatio.toFixed(3),
    range(result.delayInterval),
    `${result.delayMs.toFixed(2)}, ${result.delayTookMs.toFixed(2)}`,
    result.foreignShare.toFixed(2),
  ]);
  const ratios = ['cut over one piece', '95 %', 'late rows over none', '95 %'];
  const head = ['model', 'batch', 'step, ms', ...ratios, 'ms late, took', 'share of a core of others'];
  return `${machineText(report)}\n${table(head, rows)}`;
});
