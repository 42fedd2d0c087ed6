/** @file Sessions of the demo model small enough for tests: little memory, few examples, batches on this thread. */
import { type FfmDatasetOptions, loadFfmBatches } from '../../src/demo/ffm-dataset.js';
import { ffmSchema } from '../../src/demo/ffm-example.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import type { FetchValue } from '../../src/runtime/session/fetch.js';
import type { Fetch, Session, SessionOptions } from '../../src/runtime/session/session.js';
import type { RunContext, TrainHook } from '../../src/train/hooks/hook.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import type { ModelSpec } from '../../src/train/model-spec.js';

export const BATCH_SIZE = 32;

export const DATASET: FfmDatasetOptions = { kind: 'clicks', vocab: 50, batchSize: BATCH_SIZE, seed: 1, examples: 256 };

/** Options of a small session. */
export function smallSession(options: Partial<SessionOptions> = {}): SessionOptions {
  return { schema: ffmSchema(), batchSize: BATCH_SIZE, threads: 1, seed: 1, memoryBytes: 2 ** 26, ...options };
}

export function loadBatches(session: Session, dataset = DATASET): number[] {
  return loadFfmBatches(session, dataset);
}

/** Keeps the loss of every step. */
export class LossHook implements TrainHook {
  readonly losses: number[] = [];
  readonly #fetches: readonly Fetch[];

  constructor(model: ModelSpec) {
    this.#fetches = [model.loss];
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  afterRun(_: RunContext, [loss]: readonly FetchValue[]): void {
    this.losses.push(loss as number);
  }
}

export interface FfmRun {
  readonly steps: number;
  readonly session?: Partial<SessionOptions>;
  readonly modelDir?: string;
  /** More hooks than that of the losses. */
  readonly hooks?: (model: ModelSpec) => readonly TrainHook[];
}

/** Trains the demo model from its first batch, or from where the model directory stands, and returns all losses. */
export async function trainFfm({ steps, session, modelDir = undefined, hooks }: FfmRun): Promise<number[]> {
  const model = buildFfm();
  const hook = new LossHook(model);
  const trainer = await LocalTrainer.create({
    model,
    session: smallSession(session),
    modelDir: modelDir ?? null,
    steps,
    hooks: [hook, ...(hooks?.(model) ?? [])],
  });
  try {
    const batches = loadBatches(trainer.session);
    let next = trainer.startStep;
    await trainer.train({ next: () => batches[next++ % batches.length]!, batchesAhead: Number.POSITIVE_INFINITY });
  } finally {
    await trainer.close();
  }
  return hook.losses;
}
