/**
 * @file A training run of the FFM demo that a bench starts and stops: the trainer, hooks and reader thread that
 * `monolith train` uses, held between rounds by a turnstile in front of the input.
 */
import { DataReader } from '../src/data/data-reader.js';
import { ffmDataset } from '../src/demo/ffm-dataset.js';
import { FFM_LENGTH_MAX, ffmSchema } from '../src/demo/ffm-example.js';
import { buildFfm } from '../src/demo/ffm-model.js';
import type { BackendName } from '../src/runtime/pool/load-backend.js';
import type { TrainHook } from '../src/train/hooks/hook.js';
import { ProgressHook } from '../src/train/hooks/progress.js';
import { LocalTrainer } from '../src/train/local-train.js';
import type { ModelSpec } from '../src/train/model-spec.js';
import { Turnstile } from './turnstile.js';

const BATCH_TIMEOUT_MS = 60_000;
/** Steps between two tests of whether a round was long enough. */
const BURST_MAX = 4096;

export interface FfmRunOptions {
  readonly batchSize: number;
  readonly threads: number;
  /** Ids per slot; 5 is the demo's. */
  readonly vocab?: number;
  readonly backend?: BackendName;
  readonly traceEvents?: number;
  readonly seed?: number;
  /** Examples of the resident data set; the demo's number unless told. */
  readonly examples?: number;
  /** Hooks besides those every run has. */
  readonly hooks?: (model: ModelSpec) => readonly TrainHook[];
}

/** What one turn of a run took, per step. */
export interface Turn {
  readonly stepUs: number;
  /** CPU time of all threads of the process; it does not grow when others take the cores away. */
  readonly cpuUs: number;
}

export class FfmRun {
  readonly batchSize: number;
  readonly #trainer: LocalTrainer;
  readonly #reader: DataReader;
  readonly #turnstile: Turnstile;
  readonly #training: Promise<unknown>;

  private constructor(batchSize: number, trainer: LocalTrainer, reader: DataReader, turnstile: Turnstile) {
    this.batchSize = batchSize;
    this.#trainer = trainer;
    this.#reader = reader;
    this.#turnstile = turnstile;
    this.#training = trainer.train({
      batchesAhead: Number.POSITIVE_INFINITY,
      next: turnstile.gate(() => reader.next(BATCH_TIMEOUT_MS)),
    });
  }

  /** Threads are up, the data set is resident, nothing was trained yet. */
  static async start(options: FfmRunOptions): Promise<FfmRun> {
    const { batchSize, threads, vocab = 5, backend = 'wasm', traceEvents = 0, seed = 1, examples, hooks } = options;
    const model = buildFfm(FFM_LENGTH_MAX);
    const turnstile = new Turnstile();
    const progress = new ProgressHook({ loss: model.loss, batchSize, everyMs: Number.MAX_VALUE, onProgress: () => {} });
    const trainer = await LocalTrainer.create({
      model,
      modelDir: null,
      steps: Number.MAX_SAFE_INTEGER,
      hooks: [progress, ...(hooks?.(model) ?? []), turnstile],
      session: { schema: ffmSchema(), batchSize, threads, backend, seed, traceEvents },
    });
    try {
      const dataset = ffmDataset({ kind: 'clicks', vocab, batchSize, seed, ...(examples && { examples }) });
      const reader = await DataReader.start({ session: trainer.session, dataset });
      return new FfmRun(batchSize, trainer, reader, turnstile);
    } catch (error) {
      await trainer.close();
      throw error;
    }
  }

  /** Trains `steps` steps. */
  async train(steps: number): Promise<Turn> {
    const cpu = process.cpuUsage();
    const start = performance.now();
    await Promise.race([this.#turnstile.pass(steps), this.#training]);
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    return { stepUs: (ms * 1000) / steps, cpuUs: (user + system) / steps };
  }

  /** Trains for about that long and returns the steps that a turn of `turnMs` has. */
  async warmUp(ms: number, turnMs: number): Promise<number> {
    let usedUs = 0;
    let stepUs = 0;
    for (let burst = 1; usedUs < ms * 1000; burst = Math.min(burst * 2, BURST_MAX)) {
      ({ stepUs } = await this.train(burst));
      usedUs += stepUs * burst;
    }
    return Math.max(1, Math.round((turnMs * 1000) / stepUs));
  }

  /** Switches the tracing of all threads; a run started without rings is never traced. */
  set tracing(on: boolean) {
    for (const { ring } of this.#trainer.session.trace.threads) ring.on = on;
  }

  async close(): Promise<void> {
    this.#turnstile.close();
    try {
      await this.#training;
    } finally {
      await this.#reader.close();
      await this.#trainer.close();
    }
  }
}
