/** @file What runners share: one task, one model directory, results as summaries (monolith/base_runner). */

import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import { EventFileWriter } from '../../summary/event-file-writer.js';
import { scalarValue } from '../../summary/summary-values.js';
import type { RunnerEstimator, RunnerEvaluated, RunnerPlace, RunnerTask, TaskParams } from './runner-task.js';

export interface RunnerOptions {
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  /** Told of each result. */
  readonly onResult?: (result: RunnerResult) => void;
}

export type RunnerResult =
  | { readonly event: 'trained'; readonly step: number; readonly loss: number | null }
  | { readonly event: 'evaluated'; readonly step: number; readonly loss: number; readonly metrics: Metrics };

type Metrics = Readonly<Record<string, number | null>>;

/** What of the settings every runner needs. */
export interface RunnerSettings {
  readonly modelDir: string | null;
  readonly saveCheckpointsSteps: number | null;
  readonly mode: 'train_and_eval' | 'train' | 'eval';
}

/** One task in one model directory. */
export abstract class BaseRunner {
  readonly task: RunnerTask;
  protected readonly settings: RunnerSettings;
  protected readonly clock: Clock;
  protected readonly signal: AbortSignal | undefined;
  readonly #onResult: (result: RunnerResult) => void;

  constructor(task: RunnerTask, settings: RunnerSettings, options: RunnerOptions = {}) {
    checkOptions('a runner', options, ['clock', 'signal', 'onResult']);
    this.task = task;
    this.settings = settings;
    this.clock = options.clock ?? systemClock;
    this.signal = options.signal;
    this.#onResult = options.onResult ?? (() => undefined);
  }

  /** Does what the mode says. */
  async run(): Promise<void> {
    const { modelDir } = this.settings;
    if (!modelDir) throw new MonolithError('ML_RUNNER', { reason: 'a model directory is needed: give --model_dir' });
    const { signal } = this;
    const estimator = await this.task.createEstimator({
      modelDir,
      saveCheckpointsSteps: this.saveCheckpointsSteps(),
      ...this.place(),
      ...(signal !== undefined && { signal }),
    });
    try {
      await this.runMode(estimator, modelDir);
    } finally {
      await estimator.close();
    }
  }

  protected abstract runMode(estimator: RunnerEstimator, modelDir: string): Promise<void>;

  /** What else its task is told. */
  protected place(): Partial<RunnerPlace> {
    return {};
  }

  protected get params(): TaskParams {
    return this.task.params;
  }

  protected saveCheckpointsSteps(): number | null {
    return this.settings.saveCheckpointsSteps;
  }

  /** Trains up to a global step; null for what the data or the task says. */
  protected async train(estimator: RunnerEstimator, maxSteps: number | null): Promise<number> {
    const { globalStep, loss } = await estimator.train({ steps: this.params.train.steps, maxSteps });
    this.#onResult({ event: 'trained', step: globalStep, loss });
    return globalStep;
  }

  /** Evaluates a checkpoint and writes what came of it to the folder `eval` of the model directory. */
  protected async evaluate(estimator: RunnerEstimator, modelDir: string, checkpoint?: string): Promise<number> {
    const steps = this.#evalSteps();
    const results = await estimator.evaluate({ steps, ...(checkpoint !== undefined && { checkpoint }) });
    const writer = await EventFileWriter.open(join(modelDir, 'eval'), { clock: this.clock });
    try {
      await this.writeSummary(results, writer, results.globalStep);
    } finally {
      await writer.close();
    }
    const { globalStep: step, loss, metrics } = results;
    this.#onResult({ event: 'evaluated', step, loss, metrics });
    return step;
  }

  /** Writes the numbers of an evaluation as scalars of a step. Undefined ones are left out. */
  async writeSummary({ loss, metrics }: RunnerEvaluated, writer: EventFileWriter, step: number): Promise<void> {
    const values = Object.entries({ loss, ...metrics }).filter((entry): entry is [string, number] => entry[1] !== null);
    await writer.addSummary(
      values.map(([tag, value]) => scalarValue(tag, value)),
      step,
    );
  }

  /** Batches of an evaluation: as many as the examples of the task make, or all there are. */
  #evalSteps(): number | null {
    const { eval: evaluation, input } = this.params;
    if (evaluation.steps !== null) return evaluation.steps;
    const batch = evaluation.per_replica_batch_size ?? this.params.train.per_replica_batch_size;
    if (input.eval_examples === null || batch === null) return null;
    const steps = Math.floor(input.eval_examples / batch);
    const { eval_examples: total } = input;
    log.info(`Evaluation: total_examples:${total} eval_batch_size:${batch} num_eval_steps: ${steps}`);
    if (steps >= 1) return steps;
    const reason = `input.eval_examples (${total}) is less than a batch of ${batch}: there is nothing to evaluate`;
    throw new MonolithError('ML_RUNNER', { reason });
  }
}
