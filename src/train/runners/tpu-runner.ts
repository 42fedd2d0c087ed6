/**
 * @file TpuRunner: the flows of monolith/tpu_runner on this machine. A TPU itself is not supported.
 *
 * An evaluation goes on beside a training: it takes each checkpoint as it comes, until that of the last step.
 */
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import { BaseRunner, type RunnerOptions } from './base-runner.js';
import { checkpointsIterator } from './checkpoints-iterator.js';
import type { TpuRunnerSettings } from './runner-settings.js';
import type { RunnerEstimator, RunnerTask } from './runner-task.js';

/** How long an evaluation waits for the next checkpoint. */
const CHECKPOINT_TIMEOUT_MS = 5 * 60 * 60_000;
/** Examples of a batch in a test on the CPU. */
const CPU_TEST_BATCH = 128;
/** Errors of a checkpoint that was deleted before it was read. */
const GONE = new Set(['ML_CKPT_NONE', 'ML_NOT_FOUND', 'ML_CKPT_READ']);

/** Trains, or evaluates each checkpoint as it comes, by the settings of a TPU runner; a TPU is ML_UNSUPPORTED. */
export class TpuRunner extends BaseRunner {
  readonly #own: TpuRunnerSettings;

  constructor(task: RunnerTask, settings: TpuRunnerSettings, options: RunnerOptions = {}) {
    super(task, settings, options);
    this.#own = settings;
    const { params } = task;
    params.accelerator = 'tpu';
    const { overwriteEndDate } = settings;
    if (overwriteEndDate !== '' && params.train.contain('end_date')) {
      params.set({ 'train.end_date': overwriteEndDate });
      log.info(`Use flag end_date ${overwriteEndDate} to replace parameter train.end_date.`);
    }
  }

  override async run(): Promise<void> {
    const { mode, cpuTest, tpu } = this.#own;
    if (mode === 'train_and_eval') throw new MonolithError('ML_RUNNER', { reason: `${mode} has not been supported.` });
    if (cpuTest && mode !== 'train') {
      throw new MonolithError('ML_RUNNER', { reason: 'Cpu test can only work with train mode.' });
    }
    if (tpu !== null) {
      const reason = 'there is no backend for it: CPUs (wasm) and GPUs (cuda) are what trains here';
      const hint = 'leave --tpu out: the same task then runs on this machine';
      throw new MonolithError('ML_UNSUPPORTED', { what: `the TPU ${tpu}`, reason }, { hint });
    }
    if (cpuTest) this.params.train.per_replica_batch_size = CPU_TEST_BATCH;
    await super.run();
  }

  /** A task that says how often to save goes before the flag. */
  protected override saveCheckpointsSteps(): number | null {
    return this.params.train.save_checkpoints_steps ?? super.saveCheckpointsSteps();
  }

  protected async runMode(estimator: RunnerEstimator, modelDir: string): Promise<void> {
    if (this.#own.mode === 'train') await this.train(estimator, this.params.train.max_steps);
    else await this.#evaluateEach(estimator, modelDir);
  }

  async #evaluateEach(estimator: RunnerEstimator, modelDir: string): Promise<void> {
    const { clock, signal } = this;
    const maxSteps = this.params.train.max_steps ?? Number.POSITIVE_INFINITY;
    const waiting = { clock, signal, timeoutMs: CHECKPOINT_TIMEOUT_MS };
    for await (const checkpoint of checkpointsIterator(modelDir, waiting)) {
      try {
        const step = await this.evaluate(estimator, modelDir, checkpoint);
        if (step < maxSteps) continue;
        log.info(`Evaluation finished after training step ${step}`);
        return;
      } catch (error) {
        if (!(error instanceof MonolithError) || !GONE.has(error.code)) throw error;
        log.info(`Checkpoint ${checkpoint} no longer exists, skipping checkpoint`);
      }
    }
  }
}
