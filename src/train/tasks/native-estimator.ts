/**
 * @file The Estimator of the reference: a task, and a RunConfig that says where and how it is trained
 * (native_training/estimator).
 *
 * Every call works on a copy of the task with the mode of the call, and closes what it opened. What is not as there:
 * an evaluation only reads, and a prediction predicts.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { MetricsClient } from '../../base/metrics-client.js';
import { latestCheckpoint } from '../../checkpoint/on-demand.js';
import type { SessionOptions } from '../../runtime/session/session.js';
import { prepareRunner } from '../config/prepare-runner.js';
import { refuseCluster } from '../config/refuse-cluster.js';
import { resolveConfig } from '../config/resolved-config.js';
import { RunConfig } from '../config/run-config.js';
import { type ConfigSources, RunnerConfig } from '../config/runner-config.js';
import type { EstimatorEvent } from '../estimator/estimator-event.js';
import { metricPrefixOf } from '../estimator/estimator-model.js';
import type { WarmStart } from '../estimator/estimator-options.js';
import type { EvaluateResult } from '../estimator/evaluate-call.js';
import type { Prediction, PredictionBatch } from '../estimator/predict-call.js';
import type { TrainResult } from '../estimator/train-result.js';
import type { ImportedModel, ImportOptions } from '../exporter.js';
import { importerOfSavedModels } from '../exporter.js';
import type { TrainHook } from '../hooks/hook.js';
import { overrideParams } from '../runners/params-override.js';
import type { Mode } from '../task-params.js';
import { keepTableKind, localConfig } from './local-config.js';
import { defaultModelDir } from './local-train.js';
import { inMode, type ModelGiven, paramsOf } from './model-given.js';
import type { SyncBackend } from './native-task-context.js';
import { servingServers } from './serving-config.js';
import { backendOf } from './synced-training.js';
import { TaskEstimator } from './task-estimator.js';

export interface NativeEstimatorOptions extends ConfigSources {
  /** Threads, memory and the like of the sessions. */
  readonly session?: Omit<SessionOptions, 'schema' | 'batchSize'>;
  readonly metrics?: MetricsClient;
  /** Who serves what is trained, for realtime training. Default: the folder `fresh` of the model directory. */
  readonly syncBackend?: SyncBackend;
  /** Told of what happens. Default: warnings are warnings of the process. */
  readonly log?: (event: EstimatorEvent) => void;
}

export interface NativeExportOptions {
  /** Folder of versions. Default: that of the task's parameters. */
  readonly dir?: string;
  /** Examples of a batch of the session that the checkpoint is restored into. */
  readonly batchSize?: number;
  /** Name of the model in the export. Default: its own. */
  readonly name?: string;
  /** Variables alone, for a task whose exports are in parts. */
  readonly denseOnly?: boolean;
  /** Whether slots are made of layouts, whatever the training does. */
  readonly enableFusedLayout?: boolean;
}

/** What an export changes of the task. */
type Exported = { readonly [K in 'batchSize' | 'name' | 'enableFusedLayout']?: NativeExportOptions[K] | undefined };

export interface NativePredictOptions {
  /** Heads to predict, by name. Default: all. */
  readonly predictKeys?: readonly string[] | null;
  readonly checkpointPath?: string | null;
}

/**
 * Trains, evaluates and predicts with a task, by a RunConfig or a RunnerConfig.
 *
 * ```ts
 * const estimator = new Estimator(FFMParams(), new RunConfig({ isLocal: true, modelDir: 'runs/ffm' }));
 * await estimator.train({ steps: 100 });
 * for await (const { prediction } of estimator.predict()) console.log(prediction);
 * ```
 */
export class NativeEstimator {
  readonly config: RunnerConfig;
  /** That of the config, or a folder of the user's in the temporary directory, by the name of the task. */
  readonly modelDir: string;
  readonly #model: ModelGiven;
  readonly #warmStartFrom: string | WarmStart | null;
  readonly #options: NativeEstimatorOptions;
  #prepared: Promise<void> | undefined;
  readonly #open = new Set<TaskEstimator>();
  #closed = false;

  constructor(
    model: ModelGiven,
    conf: RunConfig | RunnerConfig,
    warmStartFrom: string | WarmStart | null = null,
    options: NativeEstimatorOptions = {},
  ) {
    const { flags, env } = checkOptions('Estimator', options, [
      ...(['session', 'metrics', 'syncBackend', 'log', 'flags', 'env'] as const),
    ]);
    const sources = { ...(flags && { flags }), ...(env && { env }) };
    if (!(conf instanceof RunConfig || conf instanceof RunnerConfig)) {
      const hint = 'new RunConfig({ isLocal: true, modelDir })';
      const reason = 'a RunConfig or a RunnerConfig is needed';
      throw new MonolithError('ML_OPTION', { where: 'Estimator', option: 'conf', reason }, { hint });
    }
    this.config = conf instanceof RunConfig ? conf.toRunnerConfig(sources) : conf;
    refuseCluster(resolveConfig(this.config, sources));
    const params = paramsOf(model);
    toldOfDeepInsight(params.metrics, this.config);
    overrideParams(params, this.config.paramsOverride);
    this.#model = model;
    this.#warmStartFrom = warmStartFrom;
    this.#options = options;
    this.modelDir = this.config.modelDir || defaultModelDir(params.name);
  }

  /** What names of its metrics begin with. */
  get metricPrefix(): string {
    return metricPrefixOf(this.config.deepInsightName ?? 'None');
  }

  /** Trains on the input of the task: `steps` more, up to `maxSteps`, whichever comes first, or until it ends. */
  async train(
    options: {
      readonly steps?: number | null;
      readonly maxSteps?: number | null;
      readonly hooks?: readonly TrainHook[] | null;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<TrainResult> {
    const given = checkOptions('Estimator.train', options, ['steps', 'maxSteps', 'hooks', 'signal']);
    const { train } = paramsOf(this.#model);
    const { steps = train.steps, maxSteps = train.max_steps, hooks, signal } = given;
    return this.#with('train', (estimator) =>
      estimator.train({ steps, maxSteps, ...(hooks && { hooks }), ...(signal && { signal }) }),
    );
  }

  /** Loss and metrics of the newest checkpoint over the task's input for evaluation. Nothing is changed or saved. */
  async evaluate(
    options: { readonly steps?: number | null; readonly signal?: AbortSignal } = {},
  ): Promise<EvaluateResult> {
    const { steps, signal } = checkOptions('Estimator.evaluate', options, ['steps', 'signal']);
    return this.#with('eval', (estimator) =>
      estimator.evaluate({ ...(steps !== undefined && { steps }), ...(signal && { signal }) }),
    );
  }

  /** Predictions over the task's input for inference, as they are taken: an example each, or a batch. */
  predict(
    options: NativePredictOptions & { readonly yieldSingleExamples: false },
  ): AsyncGenerator<PredictionBatch, void, undefined>;
  predict(
    options?: NativePredictOptions & { readonly yieldSingleExamples?: true },
  ): AsyncGenerator<Prediction, void, undefined>;
  async *predict(
    options: NativePredictOptions & { readonly yieldSingleExamples?: boolean } = {},
  ): AsyncGenerator<unknown, void, undefined> {
    const {
      predictKeys,
      checkpointPath,
      yieldSingleExamples = true,
    } = checkOptions('Estimator.predict', options, ['predictKeys', 'checkpointPath', 'yieldSingleExamples']);
    const { estimator, end } = await this.#opened('infer');
    try {
      const asked = { ...(checkpointPath != null && { checkpointPath }), yieldSingleExamples } as const;
      for await (const predicted of estimator.predict(asked as { readonly yieldSingleExamples: false })) {
        yield predictKeys == null ? predicted : withHeads(predicted, predictKeys);
      }
    } finally {
      await end();
    }
  }

  /**
   * Writes the newest checkpoint for serving below the folder that the task says, or `dir`. Returns the version's
   * folder, of an export in parts that of its entry.
   */
  async exportSavedModel(options: NativeExportOptions = {}): Promise<string> {
    const { dir, batchSize, name, denseOnly, enableFusedLayout } = checkOptions('Estimator.exportSavedModel', options, [
      ...(['dir', 'batchSize', 'name', 'denseOnly', 'enableFusedLayout'] as const),
    ]);
    const exported = { batchSize, name, enableFusedLayout };
    return this.#with('infer', (estimator) => estimator.export(dir, denseOnly === true ? { denseOnly } : {}), exported);
  }

  /** Opens an exported SavedModel to infer with. */
  async importSavedModel(path: string, options: ImportOptions = {}): Promise<ImportedModel> {
    return (await importerOfSavedModels())(path, options);
  }

  latestCheckpoint(): Promise<string | null> {
    return latestCheckpoint(this.modelDir);
  }

  getVariableNames(): Promise<string[]> {
    return this.#with('infer', (estimator) => estimator.getVariableNames());
  }

  getVariableValue(name: string): ReturnType<TaskEstimator['getVariableValue']> {
    return this.#with('infer', (estimator) => estimator.getVariableValue(name));
  }

  /** Stops what is under way: a training saves. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#open].map((estimator) => estimator.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #with<T>(mode: Mode, body: (estimator: TaskEstimator) => Promise<T>, exported?: Exported): Promise<T> {
    const { estimator, end } = await this.#opened(mode, exported);
    try {
      return await body(estimator);
    } finally {
      await end();
    }
  }

  async #opened(
    mode: Mode,
    exported: Exported = {},
  ): Promise<{ readonly estimator: TaskEstimator; end(): Promise<void> }> {
    if (this.#closed) throw new MonolithError('ML_CLOSED', { what: 'the estimator' });
    const { modelDir, config } = this;
    const { session, metrics, log, env } = this.#options;
    this.#prepared ??= prepareRunner(config, { modelDir, ...(env && { env: { ...env } }) });
    await this.#prepared;
    const local = localConfig(config);
    await keepTableKind(local, modelDir);
    const { batchSize, name, enableFusedLayout } = exported;
    Object.assign(local, { ...(enableFusedLayout !== undefined && { enableFusedLayout }) });
    if (name !== undefined) local.modelName = name;
    const syncBackend =
      mode === 'train' ? (this.#options.syncBackend ?? (await backendOf(config, modelDir))) : undefined;
    const { model: params, release } = inMode(this.#model, mode, batchSize);
    try {
      const estimator = new TaskEstimator({
        ...{ params, config: local, modelDir, warmStartFrom: this.#warmStartFrom, servers: servingServers(config) },
        ...(session && { session }),
        ...(metrics && { metrics }),
        ...(syncBackend && { syncBackend }),
        ...(log && { log }),
      });
      this.#open.add(estimator);
      const end = async () => {
        this.#open.delete(estimator);
        release();
        await estimator.close();
      };
      return { estimator, end };
    } catch (error) {
      release();
      throw error;
    }
  }
}

/** A local run sends nothing to deep insight; any other does, as what the config says. */
function toldOfDeepInsight(metrics: ReturnType<typeof paramsOf>['metrics'], config: RunnerConfig): void {
  metrics.enable_deep_insight = !config.isLocal;
  if (config.isLocal) return;
  const { deepInsightName, deepInsightTarget, deepInsightSampleRatio } = config;
  if (deepInsightName !== null) metrics.deep_insight_name = deepInsightName;
  if (deepInsightTarget !== null) metrics.deep_insight_target = deepInsightTarget;
  if (deepInsightSampleRatio !== null) metrics.deep_insight_sample_ratio = deepInsightSampleRatio;
}

/** A prediction with some of its heads. */
function withHeads(predicted: { readonly heads?: object }, keys: readonly string[]): object {
  const heads = Object.entries(predicted.heads ?? {});
  const missing = keys.find((key) => !heads.some(([name]) => name === key));
  if (missing === undefined)
    return { ...predicted, heads: Object.fromEntries(heads.filter(([name]) => keys.includes(name))) };
  const hint = heads.length > 0 ? `there are ${heads.map(([name]) => name).join(', ')}` : 'the task predicts one thing';
  const reason = `predictKeys: there is no head ${missing}`;
  throw new MonolithError('ML_OPTION', { where: 'Estimator.predict', option: 'predictKeys', reason }, { hint });
}
