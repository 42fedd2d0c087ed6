/**
 * @file A task wrapped so that the engine can run it: its tables are collected, its contexts set, its hooks put in
 * order (cpu_training, CpuTraining).
 */
import { MonolithError } from '../../base/errors.js';
import { CpuFeatureFactory } from '../../feature/model/factory-from-embeddings.js';
import { EmbeddingLayoutFactory } from '../../feature/model/layout-factory.js';
import { addToCollections } from '../../graph/collections.js';
import type { Graph } from '../../graph/graph.js';
import { AsyncFunctionMgr } from '../async-function-mgr.js';
import type { CpuTrainingConfig } from '../config/training-config.js';
import type { Mode } from '../task-params.js';
import { withBuildContext } from './build-context.js';
import { collectFeatures, type FeatureConfigs, featureConfigs } from './collect-features.js';
import { dumpUtils, type ModelDump } from './dump-utils.js';
import { collectedOf, dumpedFeatures } from './dumped-features.js';
import { isExporting } from './export-context.js';
import { chiefHooks, type HookContext, trainingHooks } from './hook-assembly.js';
import type {
  InputFn,
  ModelFn,
  ModelRunConfig,
  NativeSpec,
  NativeTask,
  ServingInputReceiverFn,
  TaskFeatures,
} from './native-task.js';
import {
  makeNativeTaskContext,
  type NativeTaskContext,
  type SyncBackend,
  withNativeTaskContext,
} from './native-task-context.js';
import { ParserCtx, withParserCtx } from './parser-ctx.js';
import { copyOf, servingConfig, servingFeatureConfigs } from './serving-config.js';
import { storeOf, type TableStore, tablesIn } from './table-store.js';

const REALTIME_DENSE_ONLY_SECS = 1800;

/** Wraps a task: the functions of it that the engine calls, each in the contexts it expects. */
export class CpuTraining {
  readonly task: NativeTask;
  readonly #config: CpuTrainingConfig;
  readonly #serving: CpuTrainingConfig;
  readonly #context: NativeTaskContext;
  readonly #features: FeatureConfigs;
  readonly #parser: ParserCtx;

  /**
   * Resolves what the config leaves open, in the caller's record, and collects the tables of the task.
   *
   * ```ts
   * const training = new CpuTraining(new CpuTrainingConfig(), params.instantiate());
   * training.featureConfigs.slotToOccurrenceThreshold;
   * ```
   */
  constructor(config: CpuTrainingConfig, task: NativeTask, syncBackend: SyncBackend | null = null) {
    if (config.serverType !== 'worker') {
      throw new MonolithError('ML_TASK', { reason: 'server_type in CpuTraining must be `worker`' });
    }
    resolveConfig(config, task);
    this.task = task;
    this.#config = copyOf(config);
    this.#serving = servingConfig(this.#config);
    this.#context = makeNativeTaskContext(this.#config, syncBackend);
    this.#parser = new ParserCtx({
      enableFusedLayout: config.enableFusedLayout,
      enableResourceConstrainedRoughsort: config.enableResourceConstrainedRoughsort,
    });
    this.#parser.set('dataset_worker_idx', config.index);
    this.#parser.set('dataset_num_workers', config.numWorkers);
    const { dump } = task;
    this.#features = dump === null ? this.#inContext(() => collectFeatures(task)) : featuresOfDump(dump);
    recordTables(this.#features);
  }

  /** The config as it was resolved; while a model is exported, the one of serving. */
  get config(): CpuTrainingConfig {
    return isExporting() ? this.#serving : this.#config;
  }

  /** What the tables are made of; while a model is exported, serving tables. */
  get featureConfigs(): FeatureConfigs {
    return isExporting() ? servingFeatureConfigs(this.#features, this.#config) : this.#features;
  }

  /** Which store holds the tables. */
  get store(): TableStore {
    return storeOf(this.config, { useGpuEmbTable: this.task.p.train.use_gpu_emb_table });
  }

  /** Whether the task looks anything up: one that does not is left to itself. */
  get hasFeatures(): boolean {
    return this.#features.collected.features.size > 0;
  }

  createInputFn(mode: Mode): InputFn {
    const inputFn = this.task.createInputFn(mode);
    return () => this.#inContext(inputFn);
  }

  /** The model function of the task, in its contexts, and with the hooks of its training. */
  createModelFn(hooks?: HookContext): ModelFn {
    const modelFn = this.task.createModelFn();
    return (features, mode, config) => {
      return this.#inContext(() => {
        return withBuildContext({ graph: config.graph, dryRun: false }, () => {
          return this.hasFeatures
            ? this.#modelOf(modelFn, features, mode, config, hooks)
            : this.#plainModel(modelFn, features, mode, config);
        });
      });
    };
  }

  createServingInputReceiverFn(): ServingInputReceiverFn | null {
    return this.task.createServingInputReceiverFn();
  }

  /** Without tables there is nothing to save, restore or push but what the engine does by itself. */
  #plainModel(modelFn: ModelFn, features: TaskFeatures, mode: Mode, config: ModelRunConfig): NativeSpec {
    Object.assign(this.task.ctx, { featureFactory: null, layoutFactory: null });
    return modelFn(features, mode, config);
  }

  #modelOf(modelFn: ModelFn, features: TaskFeatures, mode: Mode, run: ModelRunConfig, hooks?: HookContext): NativeSpec {
    const { config } = this;
    const { ctx } = this.task;
    const isAsync = mode === 'train' && config.enableVariablePostpush;
    const asyncFunctionMgr = new AsyncFunctionMgr(isAsync);
    addToCollections(run.graph, 'dequeued_features', features);
    Object.assign(ctx, { ...this.#factories(features, run.graph), asyncFunctionMgr });
    const spec = modelFn(features, mode, run);
    if (isExporting()) return spec;
    if (mode === 'infer') return { ...spec, trainingHooks: [], trainingChiefHooks: [] };
    const context = { ...hooks, config, task: this.task, asyncFunctionMgr, modelDir: run.modelDir };
    return {
      ...spec,
      trainingHooks: trainingHooks(context, spec.trainingHooks ?? []),
      trainingChiefHooks: chiefHooks(context, spec.trainingChiefHooks ?? []),
    };
  }

  /** What the slots of the task are made with: lookups feature by feature, or layouts that are made already. */
  #factories(features: TaskFeatures, graph: Graph) {
    const { collected } = this.#features;
    const options = { ...tablesIn(this.config, this.store), graph, features, collected };
    if (!this.config.enableFusedLayout) {
      return { featureFactory: new CpuFeatureFactory(options), layoutFactory: null };
    }
    const { layouts } = collected;
    if (layouts.size === 0) {
      const reason = 'enableFusedLayout is set, and the task declares no layouts';
      const hint = 'lookupEmbeddingSlice of a MonolithModel does';
      throw new MonolithError('ML_TASK', { reason }, { hint });
    }
    return { featureFactory: null, layoutFactory: new EmbeddingLayoutFactory({ ...options, layouts }) };
  }

  #inContext<R>(body: () => R): R {
    return withNativeTaskContext(this.#context, () => withParserCtx(this.#parser, body));
  }
}

/** Has the tables written to the dump of the model, where one is kept. */
function recordTables(features: FeatureConfigs): void {
  const { featureToConfig, featureToUnmergedSliceDims, featureToCombiner } = features;
  const tables = Object.entries(featureToConfig).map(([name, config]) => ({
    name,
    config: config.toString(),
    rates: config.learningRateFns,
    sliceDims: featureToUnmergedSliceDims[name]!,
    combiner: featureToCombiner[name]!.constructor.name,
    extraRestoreNames: config.extraRestoreNames,
  }));
  dumpUtils.recordTables(tables, features.slotToOccurrenceThreshold, features.slotToExpireTime);
  dumpUtils.recordDeclared(dumpedFeatures(features.collected));
}

/** The tables of a task that was dumped: those of then. */
function featuresOfDump({ declared }: ModelDump): FeatureConfigs {
  if (declared !== null) return featureConfigs(collectedOf(declared));
  const hint = 'a training with enableModelDump writes one that has them';
  throw new MonolithError('ML_TASK', { reason: 'the dump of the task has no tables' }, { hint });
}

/** What follows from other settings is written into the caller's record, as in the reference. */
function resolveConfig(config: CpuTrainingConfig, task: NativeTask): void {
  if (config.modelName === '') {
    config.modelName = task.p.metrics.deep_insight_name ?? `di_name_${task.constructor.name}`;
  }
  if (config.enableRealtimeTraining) {
    config.partialRecovery ??= true;
    const { denseOnlySaveCheckpointsSecs: secs, denseOnlySaveCheckpointsSteps: steps } = config;
    if (secs === null && steps === null) config.denseOnlySaveCheckpointsSecs = REALTIME_DENSE_ONLY_SECS;
  }
  config.useNativeMultiHashTable ??= true;
}
