/**
 * @file A task whose model function says only labels, predictions and a loss: heads, metrics, clipping and optimizer
 * steps follow from them and from the parameters (native_training/native_model, MonolithBaseModel).
 */
import { MonolithError } from '../../base/errors.js';
import { toList } from '../../base/lists.js';
import type { AnyClass } from '../../base/params/instantiable-params.js';
import { applyGradientsWithVarOptimizer } from '../../feature/model/apply-gradients-with-var-optimizer.js';
import type { FeatureColumn } from '../../feature/model/feature-column.js';
import type { Graph, Tensor } from '../../graph/graph.js';
import { addN } from '../../graph/ops/elementwise.js';
import { globalStep } from '../../graph/ops/state.js';
import type { VariableOptimizer } from '../../optim/apply-gradients.js';
import type { BatchListener } from '../estimator/estimator-model.js';
import type { EstimatorSpec } from '../estimator-spec.js';
import type { TrainHook } from '../hooks/hook.js';
import { type Mode, monolithBaseModelParams } from '../task-params.js';
import { dumpUtils } from './dump-utils.js';
import { isExporting } from './export-context.js';
import { headMetricsHook } from './head-metrics-hook.js';
import type {
  InputFn,
  ModelFn,
  ModelRunConfig,
  NativeSpec,
  ServingInputReceiverFn,
  TaskFeatures,
  TaskInput,
} from './native-task.js';
import { NativeTask } from './native-task.js';
import { getNativeTaskContext } from './native-task-context.js';
import { getDefaultParserCtx } from './parser-ctx.js';
import { RowsWriter } from './rows-writer.js';
import { type LabelLossPred, type NormalisedSpec, normaliseSpec } from './task-heads.js';

export type MonolithBaseModelParams = ReturnType<typeof monolithBaseModelParams>;

/** A model: `inputFn`, `modelFn` and, to be exported, `servingInputReceiverFn`. */
export abstract class MonolithBaseModel<
  P extends MonolithBaseModelParams = MonolithBaseModelParams,
> extends NativeTask<P> {
  #graph: Graph | undefined;
  #losses: Tensor[] = [];
  #hooks: TrainHook[] = [];
  readonly #outputs = new Map<string, Readonly<Record<string, Tensor>>>();
  /** Columns of features, by name, as they were made by the model function at hand. */
  protected readonly columns = new Map<string, FeatureColumn>();
  /** Steps dense variables where the spec names none. */
  defaultDenseOptimizer: VariableOptimizer | null = null;
  /** Whether `<head>_auc` and `<head>_mse` of training batches are found. */
  disableNativeMetrics = true;

  static override params<T>(this: AnyClass<T>) {
    // biome-ignore lint/complexity/noThisInStatic: it is about the class that is asked, not this one
    return monolithBaseModelParams(this);
  }

  abstract inputFn(mode: Mode): TaskInput;
  abstract modelFn(features: TaskFeatures, mode: Mode): EstimatorSpec | LabelLossPred;

  /** Null: the model cannot be exported. */
  servingInputReceiverFn(): ReturnType<ServingInputReceiverFn> | null {
    return null;
  }

  /** A model is its own parameters: it can be given where those of a task are. */
  instantiate(): this {
    return this;
  }

  /** Examples of a batch in the mode of the model; setting it sets those of training and evaluation. */
  get batchSize(): number | null {
    const { p } = this;
    return p.mode === 'eval' ? p.eval.per_replica_batch_size : p.train.per_replica_batch_size;
  }

  set batchSize(value: number | null) {
    this.p.eval.per_replica_batch_size = value;
    this.p.train.per_replica_batch_size = value;
  }

  /** The graph that the model function builds in. */
  get graph(): Graph {
    if (this.#graph !== undefined) return this.#graph;
    throw new MonolithError('ML_TASK', { reason: 'no graph is being built' }, { hint: 'it is there in modelFn' });
  }

  /** Adds terms to the loss, such as those of a penalty. */
  addLoss(losses: Tensor | readonly Tensor[]): void {
    this.#losses.push(...toList(losses));
  }

  addTrainingHook(hook: TrainHook): void {
    this.#hooks.push(hook);
  }

  /** A further signature of the exported model. */
  addExtraOutput(name: string, outputs: Tensor | Readonly<Record<string, Tensor>>): void {
    if (this.#outputs.has(name)) throw new MonolithError('ML_TASK', { reason: `key ${name} exists!` });
    this.#outputs.set(name, 'op' in outputs ? { output: outputs as Tensor } : outputs);
  }

  createInputFn(mode: Mode): InputFn {
    return () => this.inputFn(mode);
  }

  override createServingInputReceiverFn(): ServingInputReceiverFn | null {
    return this.servingInputReceiverFn === MonolithBaseModel.prototype.servingInputReceiverFn
      ? null
      : () => this.servingInputReceiverFn()!;
  }

  createModelFn(): ModelFn {
    return (features, engineMode, config) => {
      const mode = this.#modeOf(engineMode);
      this.begin(config.graph);
      const given = this.modelFn(features, mode);
      const spec = normaliseSpec(given, this.p.metrics.deep_insight_target);
      const loss = this.#lossOf(spec);
      this.#record(mode, spec, features);
      if (mode === 'infer') return this.#inference(spec);
      return mode === 'eval' ? this.#evaluation(spec, loss) : this.#training(spec, loss, config);
    };
  }

  /** Forgets what a call of the model function before this one has left. */
  protected begin(graph: Graph): void {
    this.#graph = graph;
    this.#losses = [];
    this.#hooks = [];
    this.#outputs.clear();
    this.columns.clear();
  }

  /** Lookups whose gradients are taken. */
  protected get trainedLookups(): readonly (FeatureColumn | Tensor)[] {
    return [...this.columns.values()];
  }

  /** What the engine runs; a training whose parameters say `eval` evaluates. */
  #modeOf(engineMode: Mode): Mode {
    if (engineMode === 'infer' || engineMode === 'eval') return engineMode;
    if (engineMode === 'train') return this.p.mode === 'eval' ? 'eval' : 'train';
    throw new MonolithError('ML_TASK', { reason: 'model error!' });
  }

  #record(mode: Mode, { heads }: NormalisedSpec, features: TaskFeatures): void {
    const call = {
      mode,
      heads: heads.map(({ name }) => name),
      classification: heads.map(({ classification }) => classification),
      features: Object.keys(features),
      extraLosses: this.#losses.length,
      signatures: [...this.#outputs.keys()],
    };
    dumpUtils.recordModelFn(call, this.#hooks.length);
  }

  #lossOf({ loss }: NormalisedSpec): Tensor | null {
    if (loss === null || this.#losses.length === 0) return loss;
    return addN([loss, ...this.#losses], { name: 'total_loss' });
  }

  #inference(spec: NormalisedSpec): NativeSpec {
    const { enableResourceConstrainedRoughsort } = getDefaultParserCtx();
    if (enableResourceConstrainedRoughsort && !isExporting()) {
      const reason = 'its base class for models is not a part of the public reference';
      throw new MonolithError('ML_UNSUPPORTED', { what: 'enableResourceConstrainedRoughsort', reason });
    }
    const predictions = predictionsOf(spec);
    if (isExporting()) return { mode: 'infer', predictions, exportOutputs: Object.fromEntries(this.#outputs) };
    return { mode: 'infer', predictions, predictionListener: this.#rowsWriter() };
  }

  /** Writes what is predicted, where the parameters say to which folder. */
  #rowsWriter(): (() => BatchListener) | undefined {
    const { output_path: path, output_fields: fields, delimiter } = this.p;
    if (path === null) return undefined;
    if (fields === null) {
      const hint = "'' writes predictions alone";
      throw new MonolithError('ML_TASK', { reason: 'output_path is set, and output_fields is not' }, { hint });
    }
    const names = fields.split(',').flatMap((name) => name.trim() || []);
    const { workerIndex } = getNativeTaskContext();
    return () => new RowsWriter({ path, fields: names, delimiter, workerIndex });
  }

  #evaluation(spec: NormalisedSpec, loss: Tensor | null): NativeSpec {
    return { mode: 'eval', loss: needed(loss), ...headsIn(spec) };
  }

  #training(spec: NormalisedSpec, given: Tensor | null, config: ModelRunConfig): NativeSpec {
    const { clip_norm: clipNorm, dense_weight_decay: denseWeightDecay, sparse_norm_warmup_steps: warmup } = this.p;
    const optimizer = spec.optimizer ?? this.defaultDenseOptimizer;
    if (optimizer === null) throw new MonolithError('ML_TASK', { reason: 'dense_optimizer not found!' });
    refuseSinks(this.p.metrics);
    const loss = needed(given);
    const { asyncFunctionMgr } = this.ctx;
    const trainOp = applyGradientsWithVarOptimizer({
      loss,
      varOptimizer: optimizer,
      featureColumns: this.trainedLookups,
      applyEmbeddings: (pairs) => this.ctx.applyEmbeddingGradients(pairs),
      clipType: 'ClipByGlobalNorm',
      clipNorm,
      denseWeightDecay,
      globalStep: globalStep(config.graph),
      ...(warmup !== null && { sparseNormWarmupSteps: warmup }),
      ...(asyncFunctionMgr && { asyncFunctionMgr }),
    });
    const metrics = this.disableNativeMetrics ? [] : [headMetricsHook(spec.heads)];
    return { mode: 'train', loss, trainOp, ...headsIn(spec), trainingHooks: [...metrics, ...this.#hooks] };
  }
}

/** Metrics that would be sent elsewhere, one by one; those of heads are in the summaries. */
function refuseSinks(metrics: MonolithBaseModelParams['metrics']): void {
  for (const name of ['enable_kafka_metrics', 'enable_file_metrics'] as const) {
    if (!metrics[name]) continue;
    const hint = 'disableNativeMetrics = false of the model logs those of its heads';
    const reason = 'rows of metrics are written nowhere in this version';
    throw new MonolithError('ML_UNSUPPORTED', { what: `metrics.${name}`, reason }, { hint });
  }
}

function needed(loss: Tensor | null): Tensor {
  if (loss !== null) return loss;
  throw new MonolithError('ML_TASK', { reason: 'EstimatorSpec Error!' }, { hint: 'the spec of a training has a loss' });
}

function predictionsOf({ heads, isRecord }: NormalisedSpec) {
  const [first] = heads;
  if (heads.length === 1 && !isRecord) return first!.pred;
  return Object.fromEntries(heads.map(({ name, pred }) => [name, pred]));
}

function headsIn({ heads }: NormalisedSpec): Pick<NativeSpec, 'predictions' | 'labels' | 'classification'> {
  const labelled = heads.flatMap(({ name, label }) => (label === null ? [] : [[name, label] as const]));
  return {
    predictions: Object.fromEntries(heads.map(({ name, pred }) => [name, pred])),
    labels: Object.fromEntries(labelled),
    classification: Object.fromEntries(heads.map(({ name, classification }) => [name, classification])),
  };
}
