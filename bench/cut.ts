/**
 * @file What cutting a step costs, and what a prefetch hides: `npm run bench -- cut [--quick --json]`.
 *
 * Four trainings of a model of ctr-ref take turns over the same batches: steps in one piece; cut, with rows of the
 * session's own tables; with a store that is called, a prefetch of 1 and postpush; and the same where each pull takes
 * half a step longer.
 */
import { loadBatches } from '../src/data/resident-batches.js';
import type { PartialBatchData } from '../src/memory/batch.js';
import { LocalRows, type RowStore } from '../src/runtime/session/row-store.js';
import { type Fetch, Session, type SessionOptions } from '../src/runtime/session/session.js';
import { buildCtr, CTR_SCHEMA, type CtrModel } from './ctr-models.js';
import { CATEGORIES, DENSE, generateCtr } from './ctr-ref.js';
import { benchMain, type Machine, machine, machineText, table } from './harness.js';
import { type RoundOptions, ratioOf, takeTurns } from './rounds.js';

const MODELS: readonly CtrModel[] = ['ffm', 'deepfm'];
const MEMORY_BYTES = 2 ** 30;
const FULL = { batch: 4096, batches: 16, rounds: 9, roundsMax: 11 };
const QUICK = { batch: 64, batches: 3, rounds: 1, roundsMax: 1 };

interface CutResult {
  readonly model: CtrModel;
  readonly batch: number;
  /** Time of a step in one piece. */
  readonly stepMs: number;
  /** Time of a cut step over that. */
  readonly cutRatio: number;
  /** Of a step whose rows come half a step late over one whose rows do not, both with a prefetch of 1 and postpush. */
  readonly delayRatio: number;
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

type Options = RoundOptions & { readonly batch: number; readonly batches: number };

/** Rows of the session, after `delayMs`. */
class LateRows implements RowStore {
  readonly #local = new LocalRows();
  delayMs = 0;

  async pull(lease: Parameters<RowStore['pull']>[0]): Promise<void> {
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    await this.#local.pull(lease);
  }

  push(lease: Parameters<RowStore['push']>[0]): Promise<void> {
    return this.#local.push(lease);
  }
}

async function compare(model: CtrModel, options: Options): Promise<CutResult> {
  const data = [...ctrBatches(options)];
  const late = new LateRows();
  const ahead = { prefetch: 1, postpush: true };
  const ways: Partial<SessionOptions>[] = [
    {},
    { rows: new LocalRows() },
    { ...ahead, rows: new LateRows() },
    { ...ahead, rows: late },
  ];
  const runs: Run[] = [];
  try {
    for (const way of ways) runs.push(await Run.start(model, options.batch, way, data));
    // The first passes insert rows: they are slower than those that follow.
    for (const run of [...runs, ...runs]) await run.stepMs();
    late.delayMs = (await runs[0]!.stepMs()) / 2;
    const rounds = await takeTurns(
      runs.map((run) => () => run.stepMs()),
      options,
    );
    const whole = rounds.values.map(([first]) => first!).sort((a, b) => a - b);
    return {
      model,
      batch: options.batch,
      stepMs: whole[whole.length >> 1]!,
      cutRatio: ratioOf(rounds, 1, 0, (ms) => ms),
      delayRatio: ratioOf(rounds, 3, 2, (ms) => ms),
      foreignShare: rounds.foreignShare,
    };
  } finally {
    for (const run of runs) await run.close();
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

  /** Time of a step over one pass of the batches. */
  async stepMs(): Promise<number> {
    const most = this.#session.stepsAheadMax(this.#train);
    const start = performance.now();
    for (let n = 0; n < this.#batches.length; n += most) {
      const next = this.#batches.slice(n, n + most);
      await this.#session.runSteps(this.#train, next, this.#batches.slice(n + most, n + most + 1));
    }
    await this.#session.drain();
    return (performance.now() - start) / this.#batches.length;
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

await benchMain(import.meta.url, runCutBench, (report) => {
  const rows = report.results.map(({ model, batch, stepMs, cutRatio, delayRatio, foreignShare }) => [
    model,
    String(batch),
    stepMs.toFixed(2),
    cutRatio.toFixed(3),
    delayRatio.toFixed(3),
    foreignShare.toFixed(2),
  ]);
  const head = ['model', 'batch', 'step, ms', 'cut over one piece', 'late rows over none', 'share of a core of others'];
  return `${machineText(report)}\n${table(head, rows)}`;
});
