/**
 * @file What answers cost: `npm run bench -- serve [--quick --json --tfjs]`.
 *
 * With `--tfjs` also against TensorFlow.js, which is fetched: the same server with its scores, and both in process.
 *
 * One row in process; requests of one row and of 100 over 16 connections, in turns with the same server whose scores
 * are a constant; a delta of a hundredth of the rows against a whole version, and the longest wait while it is applied.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderTarget } from '../src/serve/fresh/folder-target.js';
import { Follower } from '../src/serve/fresh/follow.js';
import { ParameterSyncClient } from '../src/serve/fresh/parameter-sync-client.js';
import type { LoadedModel } from '../src/serve/loaded-model.js';
import { type Listening, listen } from '../src/serve/online/http-server.js';
import { createPredictHandler } from '../src/serve/online/predict-handler.js';
import { ServedModel } from '../src/serve/online/served-model.js';
import { versionsIn } from '../src/serve/versions.js';
import { recordTouchedRows } from '../src/sparse/table/session-touched.js';
import { Estimator } from '../src/train/estimator/estimator.js';
import type { TrainHook } from '../src/train/hooks/hook.js';
import { deepfm } from '../src/zoo/deep.js';
import { benchMain, type Machine, machine, machineText, median, table } from './harness.js';
import type { ClientResult } from './serve-client.js';
import { askedAt, client, rowAt, schema } from './serve-rows.js';
import { tfjsScores } from './tfjs-scores.js';

const FULL = { ids: 200_000, calls: 5000, clientMs: 2000, rounds: 5 };
const QUICK = { ids: 2000, calls: 50, clientMs: 40, rounds: 1 };
const CONNECTIONS = 16;
const BATCH = 1000;

interface Rest {
  readonly rowsPerRequest: number;
  readonly requestsPerSec: number;
  /** Of the same server with constant scores, or with those of the peer. */
  readonly ofConstant: number;
  /** The same by CPU time of the process, clients included: it holds on a busy machine. */
  readonly byCpu: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface ServeReport extends Machine {
  readonly inProcess: { readonly p50Us: number; readonly p99Us: number };
  readonly rest: readonly Rest[];
  readonly tfjs?: {
    readonly rest: Rest;
    /** Rows a second of batches of 100, encoded rows to scores. */
    readonly inProcess: { readonly ours: number; readonly theirs: number };
  };
  readonly delta: {
    readonly rows: number;
    readonly touched: number;
    readonly bytesOfWhole: number;
    readonly timeOfWhole: number;
    readonly longestAnswerMs: number;
    readonly longestBeforeMs: number;
  };
}

export async function runServeBench({
  quick = false,
  tfjs = false,
}: {
  quick?: boolean;
  tfjs?: boolean;
} = {}): Promise<ServeReport> {
  const options = quick ? QUICK : FULL;
  const dir = mkdtempSync(join(tmpdir(), 'monolith-serve-bench-'));
  try {
    const delta = await trainedWithDelta(dir, options.ids);
    const served = await ServedModel.open('shop', join(dir, 'out'), { pollMs: 0 });
    try {
      const { model } = served.current;
      const inProcess = await oneRow(model, options);
      const rest = [await restOf(model, 1, options), await restOf(model, 100, options)];
      const peer = tfjs ? { tfjs: await besideTfjs(model, options) } : {};
      const longest = await whileApplied(served, delta, options);
      return { ...machine(), inProcess, rest, delta: { ...delta, ...longest }, ...peer };
    } finally {
      await served.close();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface DeltaCost {
  readonly rows: number;
  readonly touched: number;
  readonly bytesOfWhole: number;
  readonly timeOfWhole: number;
}

/** Trains until every id has a row, writes a whole version, touches a hundredth, writes a delta. */
async function trainedWithDelta(dir: string, ids: number): Promise<DeltaCost> {
  const model = deepfm(schema, { dim: 16, hidden: [64, 32] });
  const estimator = new Estimator(model, { batchSize: BATCH, threads: 1, seed: 1 });
  const out = join(dir, 'out');
  const whole = ids / BATCH;
  const touched = Math.max(1, Math.floor(ids / 100 / BATCH)) * BATCH;
  const cost = { bytesOfWhole: 0, timeOfWhole: 0 };
  let client: ParameterSyncClient | undefined;
  let wholeMs = 0;
  const push = async () => {
    const start = performance.now();
    const [response] = (await client!.push({ modelName: model.name, targets: [out], timeoutInMs: 60_000 })).responses;
    return { ms: performance.now() - start, bytes: response!.bytes };
  };
  const hook: TrainHook = {
    begin: (graph) => recordTouchedRows(graph, 1 << 19),
    afterCreateSession(session) {
      client = new ParameterSyncClient(session, model, (dir) => new FolderTarget(dir));
    },
    quietSteps: () => 1,
    async afterRun({ globalStep }) {
      if (globalStep === whole) {
        wholeMs = (await push()).ms;
        const folder = join(out, (await versionsIn(out)).at(-1)!);
        cost.bytesOfWhole = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
      } else if (globalStep === whole + touched / BATCH) {
        const { ms, bytes } = await push();
        cost.timeOfWhole = ms / wholeMs;
        cost.bytesOfWhole = bytes / cost.bytesOfWhole;
      }
    },
  };
  // Each id once, then a hundredth of them again: the rows of a delta.
  const rows = Array.from({ length: ids + touched }, (_, at) => ({ ...rowAt(at, ids), user: at % ids }));
  await estimator.train(rows as never, { epochs: 1, hooks: () => [hook] } as never);
  await estimator.close();
  return { rows: ids, touched, ...cost };
}

async function oneRow(model: LoadedModel, { calls, ids }: typeof FULL) {
  const times: number[] = [];
  for (let at = 0; at < calls; at++) {
    const row = askedAt(at, ids);
    const start = performance.now();
    await model.predict([row]);
    times.push((performance.now() - start) * 1000);
  }
  const sorted = times.slice(calls >> 2).sort((a, b) => a - b);
  return { p50Us: quantile(sorted, 0.5), p99Us: quantile(sorted, 0.99) };
}

const quantile = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

type Score = LoadedModel['score'];

/** The model with scores that cost nothing. */
const constant = (model: LoadedModel): LoadedModel =>
  scoring(model, async ({ count }) => model.heads.map(({ width }) => new Float32Array(width * count).fill(0.5)));

/** The model with scores of others. */
function scoring(model: LoadedModel, score: Score): LoadedModel {
  return new Proxy(model, {
    get(target, name) {
      if (name === 'score') return score;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function restOf(
  model: LoadedModel,
  rowsPerRequest: number,
  { rounds, clientMs, ids }: typeof FULL,
  other = constant(model),
): Promise<Rest> {
  const servers = await Promise.all([model, other].map(serve));
  const asked = Array.from({ length: 64 }, (_, at) => {
    const instances = Array.from({ length: rowsPerRequest }, (_, row) => askedAt(at * 100 + row, ids));
    return { path: '/v1/models/shop:predict', body: JSON.stringify({ instances }) };
  });
  const ask = ({ url }: Listening, ms: number) => client({ url, asked, connections: CONNECTIONS, ms });
  try {
    const ratios: number[] = [];
    const cpu: [own: number[], other: number[]] = [[], []];
    const real: ClientResult[] = [];
    for (const server of servers) await ask(server, clientMs / 4);
    for (let round = 0; round < rounds; round++) {
      const found: ClientResult[] = [];
      // Every other round in reverse: what a machine has to do besides comes and goes.
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const begin = process.cpuUsage();
        found[at] = await ask(servers[at]!, clientMs);
        const { user, system } = process.cpuUsage(begin);
        cpu[at]!.push((user + system) / found[at].requests);
      }
      const [own, other] = found as [ClientResult, ClientResult];
      if (own.errors + other.errors > 0) throw new Error(`${own.errors + other.errors} requests failed`);
      ratios.push(own.requests / own.ms / (other.requests / other.ms));
      real.push(own);
    }
    const all = Float64Array.from(real.flatMap(({ latencies }) => [...latencies])).sort();
    return {
      rowsPerRequest,
      requestsPerSec: median(real.map(({ requests, ms }) => (requests / ms) * 1000)),
      ofConstant: median(ratios),
      byCpu: median(cpu[1]) / median(cpu[0]),
      p50Ms: quantile(all, 0.5),
      p99Ms: quantile(all, 0.99),
    };
  } finally {
    await Promise.all(servers.map((server) => server.close(1000)));
  }
}

/** Requests of 100 rows with scores of TensorFlow.js, and both without a server. */
async function besideTfjs(model: LoadedModel, options: typeof FULL): Promise<NonNullable<ServeReport['tfjs']>> {
  const { ids, calls } = options;
  const theirs = await tfjsScores(ids);
  const rows = Array.from({ length: 100 }, (_, at) => askedAt(at * 37, ids));
  const [chunk] = [...model.encoded(rows as never, true)];
  const rate = async (score: Score) => {
    const times: number[] = [];
    for (let at = 0; at < calls; at++) {
      const start = performance.now();
      await score(chunk!);
      times.push(performance.now() - start);
    }
    return (rows.length / median(times.slice(calls >> 2))) * 1000;
  };
  const inProcess = { ours: await rate((one) => model.score(one)), theirs: await rate(theirs) };
  return { rest: await restOf(model, 100, options, scoring(model, theirs)), inProcess };
}

const serve = (shop: LoadedModel): Promise<Listening> => listen(createPredictHandler({ shop }), { port: 0 });

/** The longest answer while the delta is applied, and as long before that. */
async function whileApplied(served: ServedModel, { rows }: DeltaCost, { calls }: typeof FULL) {
  const follower = new Follower(served);
  let longest = 0;
  const askUntil = async (done: () => boolean) => {
    longest = 0;
    for (let at = 0; !done(); at++) {
      const start = performance.now();
      await served.current.score([askedAt(at, rows)]);
      longest = Math.max(longest, performance.now() - start);
    }
    return longest;
  };
  let asked = 0;
  const longestBeforeMs = await askUntil(() => asked++ > calls / 10);
  let applied = false;
  const [longestAnswerMs] = await Promise.all([
    askUntil(() => applied),
    follower.refresh().then(() => {
      applied = true;
    }),
  ]);
  if (follower.sequence !== 1) throw new Error('the delta was not applied');
  await follower.close();
  return { longestAnswerMs, longestBeforeMs };
}

await benchMain(
  import.meta.url,
  (given) => runServeBench({ ...given, tfjs: process.argv.includes('--tfjs') }),
  ({ inProcess, rest, delta, tfjs, ...report }) => {
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
    const rows = rest.map((one) => [
      String(one.rowsPerRequest),
      one.requestsPerSec.toFixed(0),
      one.ofConstant.toFixed(3),
      one.byCpu.toFixed(3),
      one.p50Ms.toFixed(2),
      one.p99Ms.toFixed(2),
    ]);
    const lines = [
      machineText(report as Machine),
      `one row in process: p50 ${inProcess.p50Us.toFixed(0)} us, p99 ${inProcess.p99Us.toFixed(0)} us`,
      table(['rows', 'requests/s', 'of constant scores', 'by CPU time', 'p50, ms', 'p99, ms'], rows),
      `delta of ${delta.touched} of ${delta.rows} rows: ${percent(delta.bytesOfWhole)} of the bytes of a whole ` +
        `version, ${percent(delta.timeOfWhole)} of the time; longest answer ${delta.longestAnswerMs.toFixed(1)} ms ` +
        `while it is applied, ${delta.longestBeforeMs.toFixed(1)} ms before`,
    ];
    if (tfjs !== undefined) {
      const { ours, theirs } = tfjs.inProcess;
      lines.push(
        `TensorFlow.js, 100 rows: ${tfjs.rest.ofConstant.toFixed(2)} times its rows/s behind the same server ` +
          `(${tfjs.rest.byCpu.toFixed(2)} by CPU time); ${(ours / theirs).toFixed(2)} times in process, ` +
          `${ours.toFixed(0)} rows/s over ${theirs.toFixed(0)}`,
      );
    }
    return lines.join('\n');
  },
);
