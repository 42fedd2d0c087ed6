/** @file The demo model as a task of runners: `--task=ffm`. */

import { MonolithError } from '../base/errors.js';
import { stepOfPrefix } from '../checkpoint/names.js';
import { latestCheckpoint } from '../checkpoint/on-demand.js';
import { restoreSession } from '../checkpoint/restore-session.js';
import { DataReader } from '../data/data-reader.js';
import { evaluate } from '../metrics/evaluate.js';
import { Session } from '../runtime/session/session.js';
import { ProgressHook } from '../train/hooks/progress.js';
import { LocalTrainer } from '../train/local-train.js';
import type {
  RunnerEstimator,
  RunnerEvaluated,
  RunnerPlace,
  RunnerTask,
  RunnerTrained,
} from '../train/runners/runner-task.js';
import { nativeTaskParams } from '../train/task-params.js';
import { type FfmDatasetOptions, ffmDataset, heldOutOf, loadFfmBatches } from './ffm-dataset.js';
import { ffmSchema } from './ffm-example.js';
import { buildFfm } from './ffm-model.js';

const BATCH_SIZE = 64;
const BATCH_TIMEOUT_MS = 60_000;

/** Parameters of the task: those of every task, and of the made-up data. */
export const ffmRunnerParams = () => {
  const params = nativeTaskParams()
    .define(
      'data',
      'clicks' as FfmDatasetOptions['kind'],
      'clicks, which there is something to learn from, or reference.',
    )
    .define('vocab', 5, 'Ids of each feature.')
    .define('seed', 0, 'Seed of data and weights.')
    .define('threads', null as number | null, 'Threads that compute; null for one per core.');
  params.name = 'ffm';
  params.train.per_replica_batch_size = BATCH_SIZE;
  return params;
};

/** The FFM demo, trained and evaluated by runners. */
export class FfmRunnerTask implements RunnerTask {
  readonly params: ReturnType<typeof ffmRunnerParams>;

  constructor(params: ReturnType<typeof ffmRunnerParams> = ffmRunnerParams()) {
    this.params = params;
  }

  createEstimator(place: RunnerPlace): RunnerEstimator {
    return new FfmEstimator(this.params, place);
  }
}

class FfmEstimator implements RunnerEstimator {
  readonly #params: ReturnType<typeof ffmRunnerParams>;
  readonly #place: RunnerPlace;

  constructor(params: ReturnType<typeof ffmRunnerParams>, place: RunnerPlace) {
    this.#params = params;
    this.#place = place;
  }

  async train({ steps, maxSteps: until }: { steps: number | null; maxSteps: number | null }): Promise<RunnerTrained> {
    const { modelDir, saveCheckpointsSteps: saveEverySteps, restoreCkpt: ckpt = null, signal } = this.#place;
    const { saveCheckpointsSecs: everySecs, checkpointsMaxToKeep: keep, prefetch = 0, postpush = false } = this.#place;
    const model = buildFfm();
    const dataset = this.#dataset(this.#batchSize('train'));
    const progress = new ProgressHook({ loss: model.loss, batchSize: dataset.batchSize, onProgress: () => undefined });
    const trainer = await LocalTrainer.create({
      model,
      modelDir,
      steps,
      until,
      saveEverySteps,
      hooks: [progress],
      restore: { ckpt },
      saver: { ...(everySecs != null && { everySecs }), ...(keep !== undefined && { keep }) },
      session: { ...this.#session(dataset.batchSize), prefetch, postpush },
      ...(signal !== undefined && { signal }),
    });
    const { session } = trainer;
    try {
      await trainer.prepare();
      const startBatch = trainer.startStep;
      const reader = await DataReader.start({ session, dataset: ffmDataset(dataset), startBatch });
      progress.start(trainer.lastStep);
      try {
        await trainer.train({
          batchesAhead: Number.POSITIVE_INFINITY,
          next: () => reader.next(BATCH_TIMEOUT_MS),
          saveState: (unused) => reader.saveState(unused),
          restoreState: (state) => reader.restoreState(state),
        });
      } finally {
        await reader.close();
      }
    } finally {
      await trainer.close();
    }
    return { globalStep: session.globalStep, loss: progress.loss };
  }

  async evaluate({ steps, checkpoint }: { steps: number | null; checkpoint?: string }): Promise<RunnerEvaluated> {
    const { modelDir } = this.#place;
    const path = checkpoint ?? (await latestCheckpoint(modelDir));
    if (path === null) {
      const reason = 'an evaluation needs one';
      throw new MonolithError('ML_CKPT_NONE', { path: modelDir, reason }, { hint: 'train first: --mode=train' });
    }
    const model = buildFfm();
    const dataset = heldOutOf(this.#dataset(this.#batchSize('eval')));
    const session = await Session.create(model.graph, this.#session(dataset.batchSize));
    try {
      await restoreSession(session, path);
      const batches = loadFfmBatches(session, dataset);
      const { auc, loss } = await evaluate(session, model, batches.slice(0, steps ?? batches.length));
      return { loss, metrics: { auc }, globalStep: stepOfPrefix(path) };
    } finally {
      await session.close();
    }
  }

  /** Every call has a session of its own. */
  async close(): Promise<void> {}

  #batchSize(mode: 'train' | 'eval'): number {
    const { train, eval: evaluation } = this.#params;
    const own = mode === 'eval' ? evaluation.per_replica_batch_size : null;
    return own ?? train.per_replica_batch_size ?? BATCH_SIZE;
  }

  #dataset(batchSize: number): FfmDatasetOptions {
    const { data: kind, vocab, seed } = this.#params;
    return { kind, vocab, batchSize, seed };
  }

  #session(batchSize: number) {
    const { threads, seed } = this.#params;
    return { schema: ffmSchema(), batchSize, seed, ...(threads !== null && { threads }) };
  }
}
