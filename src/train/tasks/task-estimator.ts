/**
 * @file The estimator of a task: training, evaluation and prediction by a config, with the task's own inputs
 * (native_training/estimator as far as tasks go).
 *
 * Each call makes the task anew from a copy of its parameters, so that a mode which one call sets is not seen by the
 * next one.
 */
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { MetricsClient } from '../../base/metrics-client.js';
import type { SessionOptions } from '../../runtime/session/session.js';
import type { CpuTrainingConfig } from '../config/training-config.js';
import { Estimator, type ExportOptions } from '../estimator/estimator.js';
import type { EstimatorEvent } from '../estimator/estimator-event.js';
import type { EstimatorOptions, WarmStart } from '../estimator/estimator-options.js';
import type { EvaluateResult } from '../estimator/evaluate-call.js';
import type { Prediction, PredictionBatch } from '../estimator/predict-call.js';
import type { TrainResult } from '../estimator/train-result.js';
import { saveTimer } from '../hooks/checkpoint-saver.js';
import type { TrainHook } from '../hooks/hook.js';
import { StepLoggerHook } from '../hooks/step-logger.js';
import type { ModelSpec } from '../model-spec.js';
import { CpuTraining } from './cpu-training.js';
import { withSessionScope } from './current-session.js';
import { dumpUtils, type ModelDump } from './dump-utils.js';
import type { TaskParams } from './native-task.js';
import type { SyncBackend } from './native-task-context.js';
import { denseOnlyPeriod } from './saving-rules.js';
import { SyncTrainingInfoHook } from './sync-training-hooks.js';
import { withParameterSync } from './synced-training.js';
import { TaskExports } from './task-exports.js';
import { nativeSpecOf, TaskModel } from './task-model.js';
import { settingsOfTask } from './task-settings.js';
import { taskSource } from './task-source.js';

export interface TaskEstimatorOptions {
  readonly params: TaskParams;
  readonly config: CpuTrainingConfig;
  readonly modelDir: string;
  /** Threads, memory and the like of the sessions. */
  readonly session?: Omit<SessionOptions, 'schema' | 'batchSize'>;
  readonly metrics?: MetricsClient;
  /** What training begins with while the model directory has no checkpoint. */
  readonly warmStartFrom?: string | WarmStart | null;
  /** What DumpUtils recorded of the task: its tables are those of then. */
  readonly dump?: ModelDump;
  /** Who serves what is trained; it is started, subscribed and stopped by each training. */
  readonly syncBackend?: SyncBackend;
  /** Servers that exports in parts spread rows over. Default: the parameter servers of the config. */
  readonly servers?: number;
  /** Told of what happens. Default: warnings are warnings of the process. */
  readonly log?: (event: EstimatorEvent) => void;
}

export interface TaskTrainOptions {
  /** Steps to add. */
  readonly steps?: number | null;
  /** Global step to stop at; with `steps` what comes first. */
  readonly maxSteps?: number | null;
  readonly hooks?: readonly TrainHook[];
  readonly signal?: AbortSignal;
}

export interface TaskEvaluateOptions {
  /** Batches at the most. Default: all of the input. */
  readonly steps?: number | null;
  /** Prefix of a checkpoint. Default: the newest one. */
  readonly checkpoint?: string;
  readonly signal?: AbortSignal;
}

export interface TaskExportOptions extends Omit<ExportOptions, 'layout'> {
  /** Variables alone, for a task whose exports are in parts. */
  readonly denseOnly?: boolean;
}

export interface TaskPredictOptions {
  /** Prefix of a checkpoint. Default: the newest one. */
  readonly checkpointPath?: string;
  /** False gives a batch at a time. Default: true, an example. */
  readonly yieldSingleExamples?: boolean;
}

/** Trains, evaluates and predicts with one task in one model directory. */
export class TaskEstimator {
  readonly config: CpuTrainingConfig;
  readonly modelDir: string;
  readonly #options: TaskEstimatorOptions;
  readonly #training: CpuTraining;
  readonly #estimator: Estimator;
  readonly #model: TaskModel;
  readonly #exports: TaskExports;

  constructor(options: TaskEstimatorOptions) {
    checkOptions('TaskEstimator', options, [
      'params',
      'config',
      'modelDir',
      'session',
      'metrics',
      'warmStartFrom',
      'dump',
      'syncBackend',
      'servers',
      'log',
    ]);
    const { params, config, modelDir } = options;
    if (modelDir === '') throw new MonolithError('ML_TASK', { reason: 'model_dir must be provided' });
    this.#options = options;
    this.config = config;
    this.modelDir = modelDir;
    if (config.enableModelDump) startDump(config, params);
    const task = params.instantiate();
    if (options.dump !== undefined) task.dump = options.dump;
    this.#training = new CpuTraining(config, task, options.syncBackend ?? null);
    const { metrics } = options;
    const densePeriod = denseOnlyPeriod(config, task);
    this.#exports = new TaskExports({
      training: this.#training,
      modelDir,
      servers: options.servers,
      metrics,
      write: (dir, how) => this.#estimator.export(dir, how),
    });
    const denseOnly = densePeriod && {
      ...densePeriod,
      timer: saveTimer(densePeriod),
      listeners: this.#exports.denseListeners(),
    };
    const hooks = { ...(metrics && { metrics }), ...(denseOnly && { denseTimer: denseOnly.timer }) };
    this.#model = new TaskModel(this.#training, { modelDir, ...hooks });
    this.#estimator = this.#made(denseOnly);
  }

  /** Trains on the input of the task: `steps` more, up to `maxSteps`, or until the input ends. */
  async train(options: TaskTrainOptions = {}): Promise<TrainResult> {
    checkOptions('TaskEstimator.train', options, ['steps', 'maxSteps', 'hooks', 'signal']);
    const { steps = null, maxSteps = null, hooks = [], signal } = options;
    const source = taskSource(this.#training.createInputFn('train')());
    const { config, modelDir } = this;
    const info = config.enableFullSyncTraining ? [new SyncTrainingInfoHook()] : [];
    const synced = { model: this.#model, modelDir, backend: this.#options.syncBackend };
    const result = await withParameterSync(config, synced, (syncHooks) =>
      withSessionScope(() =>
        this.#estimator.train(source as never, {
          ...(steps === null ? { epochs: 1 } : { steps }),
          ...(maxSteps !== null && { maxSteps }),
          ...(signal && { signal }),
          hooks: ({ graph, loss }) => {
            const { trainingHooks = [], trainingChiefHooks = [] } = nativeSpecOf(graph) ?? {};
            return [...trainingChiefHooks, ...syncHooks, ...info, ...hooks, ...this.#loggers(loss), ...trainingHooks];
          },
        }),
      ),
    );
    if (this.config.enableModelDump) await dumpUtils.dump(join(this.modelDir, 'model_dump'));
    return result;
  }

  /** Loss and metrics of a checkpoint over the task's input for evaluation. Nothing is changed or saved. */
  evaluate(options: TaskEvaluateOptions = {}): Promise<EvaluateResult> {
    checkOptions('TaskEstimator.evaluate', options, ['steps', 'checkpoint', 'signal']);
    const source = taskSource(this.#training.createInputFn('eval')());
    return this.#estimator.evaluate(source as never, options);
  }

  /** Predictions over the task's input for inference, as they are taken. */
  predict(
    options: TaskPredictOptions & { readonly yieldSingleExamples: false },
  ): AsyncGenerator<PredictionBatch, void, undefined>;
  predict(options?: TaskPredictOptions): AsyncGenerator<Prediction, void, undefined>;
  predict(options: TaskPredictOptions = {}): AsyncGenerator<unknown, void, undefined> {
    checkOptions('TaskEstimator.predict', options, ['checkpointPath', 'yieldSingleExamples']);
    const { checkpointPath: checkpoint, yieldSingleExamples = true } = options;
    const source = taskSource(this.#training.createInputFn('infer')());
    const asked = { yieldSingleExamples, ...(checkpoint !== undefined && { checkpoint }) };
    return this.#estimator.predict(source as never, asked as never);
  }

  /** Writes the newest checkpoint for serving, below `dir` or where the task says, as its parameters say. */
  export(dir?: string, options: TaskExportOptions = {}): Promise<string> {
    return this.#exports.export({ ...(dir !== undefined && { dir }), ...options });
  }

  latestCheckpoint(): Promise<string | null> {
    return this.#estimator.latestCheckpoint();
  }

  getVariableNames(): Promise<string[]> {
    return this.#estimator.getVariableNames();
  }

  getVariableValue(name: string): ReturnType<Estimator['getVariableValue']> {
    return this.#estimator.getVariableValue(name);
  }

  /** Stops a training that is under way, which saves, and ends the sessions. */
  close(): Promise<void> {
    return this.#estimator.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Loss and speed in the log, if the config wants them there. */
  #loggers(loss: ModelSpec['loss']): readonly TrainHook[] {
    const { logStepCountSteps: everySteps } = this.config;
    return everySteps === 0 ? [] : [new StepLoggerHook({ loss, everySteps })];
  }

  #made(denseOnly: EstimatorOptions['denseOnly']): Estimator {
    const { session, log, warmStartFrom } = this.#options;
    const training = this.#training;
    const { modelDir } = this;
    return new Estimator(this.#model, {
      modelDir,
      ...settingsOfTask(training, this.#exports.listeners(), denseOnly),
      ...(warmStartFrom != null && { warmStartFrom }),
      ...(session && { session }),
      ...(log && { log }),
    });
  }
}

/** Begins the dump of the model: what it is made of is noted as it is built. */
function startDump(config: CpuTrainingConfig, params: TaskParams): void {
  dumpUtils.enable = true;
  dumpUtils.clear();
  dumpUtils.addConfig(config.toJSON());
  dumpUtils.addUserParams(config.changed());
  dumpUtils.recordParams(JSON.parse(JSON.stringify(params)) as Record<string, unknown>);
}
