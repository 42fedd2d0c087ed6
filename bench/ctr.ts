/**
 * @file Whole training on ctr-ref, as other systems do it (bench/peers): one pass over train.bin, AUC on test.bin, one
 * JSON line. `npm run bench -- ctr --dir DIR --model lr|ffm|deepfm --batch B --threads T [--feed FEED] [--trace FILE]`;
 * DIR may stand alone. FEED is `arrays`, as peers have them, `memory`, or a table in `csv`, `jsonl` or `tfrecord`.
 *
 * The first 8192 examples, at least two steps, are not timed, as in the peers. Ids have no row before they are met.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MonolithError } from '../src/base/errors.js';
import { arrayFileDataset } from '../src/data/array-file.js';
import { DataReader } from '../src/data/data-reader.js';
import { evaluate, prepareEvaluation } from '../src/metrics/evaluate.js';
import type { Session } from '../src/runtime/session/session.js';
import { writeChromeTrace } from '../src/trace/chrome-trace.js';
import type { TrainHook } from '../src/train/hooks/hook.js';
import { LocalTrainer } from '../src/train/local-train.js';
import {
  CTR_COLUMNS,
  CTR_FEEDS,
  type CtrFeed,
  ctrTable,
  type OpenFeed,
  openResident,
  openTable,
  residentBatches,
} from './ctr-feeds.js';
import { buildCtr, CTR_MODELS, CTR_SCHEMA, type CtrModel } from './ctr-models.js';
import { ctrArrays } from './ctr-ref-files.js';

const WARM_EXAMPLES = 8192;
const WARM_STEPS_MIN = 2;
const BATCH_TIMEOUT_MS = 60_000;
const TRACE_EVENTS = 1 << 16;
/** Rows, indexes and buffers of the largest model take a third of it. */
const MEMORY_BYTES = 2 ** 31;

export interface CtrOptions {
  readonly dir: string;
  readonly model: CtrModel;
  readonly batch: number;
  readonly threads: number;
  readonly trace?: string | undefined;
  /** Default: `arrays`. */
  readonly feed?: CtrFeed;
  /** Steps that are not timed; those of 8192 examples unless told. */
  readonly warmSteps?: number;
}

/** Fields as the peers print them. */
export interface CtrResult {
  readonly system: string;
  readonly model: CtrModel;
  readonly batch: number;
  readonly threads: number;
  readonly feed: CtrFeed;
  readonly backend: string;
  readonly device: string;
  readonly kernels: string;
  readonly examples: number;
  readonly examples_per_s: number;
  /** CPU time of all threads for an example, in millionths of a second: without what others take of the machine. */
  readonly cpu_us_per_example: number;
  readonly peak_rss_mb: number;
  readonly auc: number;
}

/** Notes the time when the untimed steps are done. */
class WarmUp implements TrainHook {
  readonly #steps: number;
  timedFromMs = 0;
  timedFromCpu = process.cpuUsage();

  constructor(steps: number) {
    this.#steps = steps;
  }

  quietSteps(globalStep: number): number {
    return globalStep < this.#steps ? this.#steps - globalStep : Number.POSITIVE_INFINITY;
  }

  afterRun({ globalStep }: { globalStep: number }): void {
    if (globalStep !== this.#steps) return;
    this.timedFromMs = performance.now();
    this.timedFromCpu = process.cpuUsage();
  }
}

export async function runCtr(options: CtrOptions): Promise<CtrResult> {
  const { dir, model: name, batch, threads, trace, feed = 'arrays' } = options;
  const isTable = feed !== 'arrays';
  const model = buildCtr(name, isTable ? 'columns' : 'arrays');
  const train = ctrArrays(`${dir}/train.bin`, batch);
  const steps = Math.floor(train.rows / batch);
  const warmSteps = options.warmSteps ?? Math.max(WARM_STEPS_MIN, Math.floor(WARM_EXAMPLES / batch));
  if (steps <= warmSteps) throw new MonolithError('ML_DATASET', { reason: `${steps} steps are all warm-up` });
  const warmUp = new WarmUp(warmSteps);
  const trainer = await LocalTrainer.create({
    model,
    modelDir: null,
    steps,
    hooks: [warmUp],
    session: {
      schema: isTable ? CTR_COLUMNS.specs : CTR_SCHEMA,
      batchSize: batch,
      threads,
      memoryBytes: MEMORY_BYTES,
      traceEvents: trace === undefined ? 0 : TRACE_EVENTS,
    },
  });
  try {
    const { session } = trainer;
    await trainer.prepare();
    await prepareEvaluation(session, model);
    const { input, close } = await open(session, feed, dir, batch);
    let ms: number;
    let cpu: NodeJS.CpuUsage;
    try {
      await trainer.train(input);
      ms = performance.now() - warmUp.timedFromMs;
      cpu = process.cpuUsage(warmUp.timedFromCpu);
    } finally {
      await close();
    }
    if (trace !== undefined) {
      const metadata = { model: name, batchSize: batch, threads };
      await writeChromeTrace(trace, { threads: session.trace.threads, names: session.trace.names, metadata });
    }
    return {
      system: 'ours',
      model: name,
      batch,
      threads,
      feed,
      backend: session.backend,
      device: session.device,
      kernels: session.kernelVariant,
      examples: steps * batch,
      examples_per_s: Math.round(((steps - warmSteps) * batch * 1000) / ms),
      cpu_us_per_example: Number(((cpu.user + cpu.system) / ((steps - warmSteps) * batch)).toFixed(3)),
      peak_rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
      auc: Number((await test(session, model, feed, dir, batch)).toFixed(4)),
    };
  } finally {
    await trainer.close();
  }
}

async function open(session: Session, feed: CtrFeed, dir: string, batch: number): Promise<OpenFeed> {
  if (feed === 'memory') return openResident(residentBatches(session, `${dir}/train.bin`, batch));
  if (feed !== 'arrays') return openTable(session, ctrTable(dir, feed), batch);
  const reader = await start(session, ctrArrays(`${dir}/train.bin`, batch));
  const input = { batchesAhead: reader.batchesAhead, next: () => reader.next(BATCH_TIMEOUT_MS) };
  return { input, close: () => reader.close() };
}

function start(session: Session, dataset: ReturnType<typeof ctrArrays>): Promise<DataReader> {
  const maxBatches = Math[dataset.keepRemainder ? 'ceil' : 'floor'](dataset.rows / dataset.batchSize);
  return DataReader.start({ session, dataset: arrayFileDataset(dataset), maxBatches });
}

/** AUC on the test file. */
async function test(
  session: Session,
  model: ReturnType<typeof buildCtr>,
  feed: CtrFeed,
  dir: string,
  batch: number,
): Promise<number> {
  if (feed !== 'arrays') {
    const { auc } = await evaluate(session, model, residentBatches(session, `${dir}/test.bin`, batch));
    return auc ?? Number.NaN;
  }
  const reader = await start(session, { ...ctrArrays(`${dir}/test.bin`, batch), keepRemainder: true });
  try {
    const { auc } = await evaluate(session, model, addresses(reader));
    return auc ?? Number.NaN;
  } finally {
    await reader.close();
  }
}

async function* addresses(reader: DataReader): AsyncGenerator<number> {
  for (let left = reader.batches.batchCount; left > 0; left--) yield await reader.next(BATCH_TIMEOUT_MS);
}

function parse(): CtrOptions {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      dir: { type: 'string' },
      model: { type: 'string', default: 'deepfm' },
      batch: { type: 'string', default: '4096' },
      threads: { type: 'string', default: '2' },
      trace: { type: 'string' },
      feed: { type: 'string', default: 'arrays' },
    },
  });
  const dir = values.dir ?? positionals[0];
  const model = CTR_MODELS.find((known) => known === values.model);
  const feed = CTR_FEEDS.find((known) => known === values.feed);
  if (dir === undefined || model === undefined || feed === undefined) {
    const choices = `--model ${CTR_MODELS.join('|')} --feed ${CTR_FEEDS.join('|')}`;
    throw new Error(`usage: ctr --dir <folder> ${choices} --batch n --threads n [--trace file]`);
  }
  return { dir, model, feed, batch: Number(values.batch), threads: Number(values.threads), trace: values.trace };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await runCtr(parse())));
