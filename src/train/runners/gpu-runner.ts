/**
 * @file GpuRunner: trains, evaluates, or does both in turns (monolith/gpu_runner).
 *
 * Which backend computes is up to the task: the same run works on a CPU.
 */
import { MonolithError } from '../../base/errors.js';
import { BaseRunner } from './base-runner.js';
import { currentStep } from './checkpoints-iterator.js';
import type { RunnerEstimator } from './runner-task.js';

/** Trains, evaluates, or does both in turns, by `mode` of its settings. */
export class GpuRunner extends BaseRunner {
  protected async runMode(estimator: RunnerEstimator, modelDir: string): Promise<void> {
    const { max_steps: maxSteps } = this.params.train;
    switch (this.settings.mode) {
      case 'train':
        await this.train(estimator, maxSteps);
        return;
      case 'eval':
        await this.evaluate(estimator, modelDir);
        return;
      case 'train_and_eval':
        await this.#trainAndEval(estimator, modelDir, maxSteps);
        return;
      default:
        this.settings.mode satisfies never;
    }
  }

  /** Trains `eval.steps_per_eval` steps and evaluates, until `train.max_steps`. */
  async #trainAndEval(estimator: RunnerEstimator, modelDir: string, maxSteps: number | null): Promise<void> {
    const { steps_per_eval: every } = this.params.eval;
    if (maxSteps === null) {
      const reason = 'train_and_eval ends at train.max_steps, and it is not set';
      throw new MonolithError('ML_RUNNER', { reason }, { hint: `--params_override='{"train.max_steps": 10000}'` });
    }
    let step = await currentStep(modelDir);
    while (step < maxSteps && !this.signal?.aborted) {
      const reached = await this.train(estimator, Math.min(step + every, maxSteps));
      await this.evaluate(estimator, modelDir);
      // Data that has ended trains no further.
      if (reached <= step) return;
      step = reached;
    }
  }
}
