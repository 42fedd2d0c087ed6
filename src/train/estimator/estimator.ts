/**
 * @file The estimator: a model, its checkpoints, and train, evaluate and predict over whatever rows there are.
 *
 * Mirrors native_training/estimator and tf.estimator. Every call builds the graph of its mode, takes the newest
 * checkpoint and works on a session of its own: nothing is shared by calls but files, and nothing by estimators.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { latestCheckpoint } from '../../checkpoint/on-demand.js';
import type { BatchSource } from '../../data/batch-source.js';
import type { LabelledData, UnlabelledData, UnlabelledRow } from '../../data/row-types.js';
import type { Features, Schema } from '../../data/schema.js';
import type { DataGiven } from '../../data/source-of.js';
import type { BundleData } from '../../io/bundle-format.js';
import type { ExportOptions, ImportedModel, ImportOptions } from '../exporter.js';
import { underWay } from '../train-refusals.js';
import { eitherOf } from './either-signal.js';
import { checkEstimatorModel, type EstimatorModel, metricPrefixOf } from './estimator-model.js';
import {
  BATCH_SIZE,
  checkEstimatorOptions,
  defined,
  type EstimatorOptions,
  IDLE_SECONDS,
  sessionOptionsOf,
} from './estimator-options.js';
import type { EstimatorEvaluateOptions, EvaluateResult } from './evaluate-call.js';
import { ModelPlace } from './model-place.js';
import type { Prediction, PredictionBatch, PredictOptions } from './predict-call.js';
import type { Reading, ReadingSessions } from './reading-sessions.js';
import type { Recommended, RecommendOptions } from './recommend-call.js';
import { type ModelSummary, summaryOf } from './summary.js';
import type { TrainOptions } from './train-options.js';
import type { TrainResult } from './train-result.js';

export type { ExportOptions } from '../exporter.js';

/** A model whose schema says what its rows are. */
export type TypedModel<F extends Features> = EstimatorModel & { readonly schema: Schema<F> };

/**
 * Trains, evaluates and predicts with a model.
 *
 * ```ts
 * const estimator = new Estimator(model, { modelDir: 'runs/taste' });
 * await estimator.train(rows, { epochs: 3 });
 * for await (const { row, prediction } of estimator.predict(more)) console.log(row, prediction);
 * await estimator.close();
 * ```
 */
export class Estimator<F extends Features = Features> {
  readonly model: EstimatorModel;
  readonly options: EstimatorOptions;
  readonly #place: ModelPlace;
  readonly #stop = new AbortController();
  #training: Promise<unknown> | undefined;
  #readings: Promise<ReadingSessions> | undefined;
  #closed: Promise<void> | undefined;

  constructor(model: TypedModel<F> | EstimatorModel, options: EstimatorOptions = {}) {
    checkEstimatorModel(model);
    checkEstimatorOptions(options);
    this.model = model;
    this.options = options;
    this.#place = new ModelPlace(options.modelDir ?? null);
  }

  /** What its metrics are called: they begin with it. */
  get metricPrefix(): string {
    return metricPrefixOf(this.model.name);
  }

  /** Where its checkpoints are kept; null when they are gone with the estimator. */
  get modelDir(): string | null {
    return this.options.modelDir ?? null;
  }

  /**
   * Trains on from the newest checkpoint and saves: a second call goes on where the first one stopped. ML_DIR while
   * another estimator, of this process or another, trains in the same model directory.
   */
  async train(data: LabelledData<F>, options: TrainOptions<LabelledData<F>>): Promise<TrainResult> {
    this.#checkOpen();
    if (this.#training !== undefined) throw underWay();
    const training = this.#train(data, options);
    this.#training = training.catch(() => undefined);
    try {
      return await training;
    } finally {
      this.#training = undefined;
    }
  }

  async #train(data: unknown, options: TrainOptions): Promise<TrainResult> {
    const { runRecordedCall } = await import('./recorded-call.js');
    const { checkedTrainCall } = await import('./train-options.js');
    const { model } = this;
    const call = checkedTrainCall(model.schema, data, options);
    const { signal, unlisten } = eitherOf(this.#stop.signal, call.signal);
    try {
      const parts = { model, options: this.options, modelDir: this.#place.dir(), call, signal };
      return await runRecordedCall(parts, options);
    } finally {
      unlisten();
    }
  }

  /** Loss and metrics of the newest checkpoint, or another, over the data. Nothing is changed or saved. */
  async evaluate(data: LabelledData<F>, options: EstimatorEvaluateOptions = {}): Promise<EvaluateResult> {
    this.#checkOpen();
    const { checkEvaluateCall, runEvaluateCall } = await import('./evaluate-call.js');
    checkEvaluateCall(options);
    const source = await this.#sourceOf('Estimator.evaluate', data);
    const [reading, asked] = await this.#read('an evaluation', 'eval', options);
    try {
      return await runEvaluateCall(reading, source, { ...options, ...asked });
    } finally {
      await reading.release();
    }
  }

  /**
   * Predictions of the newest checkpoint, or another: an example each, or a batch with `yieldSingleExamples: false`.
   * Rows are read as predictions are taken; who stops taking them stops it.
   */
  predict<Row extends UnlabelledRow<F>>(
    data: UnlabelledData<F, Row>,
    options: PredictOptions & { readonly yieldSingleExamples: false },
  ): AsyncGenerator<PredictionBatch<Row>, void, undefined>;
  predict<Row extends UnlabelledRow<F>>(
    data: UnlabelledData<F, Row>,
    options?: PredictOptions,
  ): AsyncGenerator<Prediction<Row>, void, undefined>;
  async *predict(data: unknown, options: PredictOptions = {}): AsyncGenerator<unknown, void, undefined> {
    this.#checkOpen();
    const { checkPredictCall, predictedBatches, singleExamples } = await import('./predict-call.js');
    checkPredictCall(options);
    const source = await this.#sourceOf('Estimator.predict', data);
    const [reading, { batchSize }] = await this.#read('a prediction', 'predict', options);
    try {
      for await (const batch of predictedBatches(reading, source, { batchSize, signal: options.signal })) {
        if (options.yieldSingleExamples === false) yield batch;
        else yield* singleExamples(batch);
      }
    } finally {
      await reading.release();
    }
  }

  /**
   * The items that go best with a row, by the newest checkpoint or another: `candidates`, or those of `excludeSeen`,
   * without what the row has had: `recommend({ userId: 42 }, { item: 'movieId', excludeSeen: ratings })`.
   */
  async recommend(row: object, options: RecommendOptions): Promise<Recommended[]> {
    this.#checkOpen();
    const { checkRecommendCall, planRecommend } = await import('./recommend-call.js');
    checkRecommendCall(Object.keys(this.model.schema.features ?? {}), row, options);
    const { rows, best, result } = await planRecommend(row, options);
    const given = defined({ checkpoint: options.checkpoint, signal: options.signal });
    for await (const { row: one, prediction } of this.predict(rows as never, given))
      best.add(one as object, prediction);
    return result();
  }

  /** Prefix of the newest checkpoint; null before the first. */
  async latestCheckpoint(): Promise<string | null> {
    this.#checkOpen();
    const dir = this.#place.known;
    return dir === null ? null : latestCheckpoint(dir);
  }

  /** Names of the variables of the newest checkpoint. Tables are no variables. */
  async getVariableNames(): Promise<string[]> {
    const tensors = await this.#variables();
    return tensors.map(({ name }) => name);
  }

  /** Values of a variable of the newest checkpoint. */
  async getVariableValue(name: string): Promise<BundleData> {
    const tensors = await this.#variables();
    const found = tensors.find((tensor) => tensor.name === name);
    if (found !== undefined) return found.data;
    const { didYouMean } = await import('../../base/suggest.js');
    const names = tensors.map((tensor) => tensor.name);
    const hint = didYouMean(name, names) ?? `it has ${names.slice(0, 10).join(', ')}`;
    throw new MonolithError('ML_NOT_FOUND', { what: `variable ${name}`, reason: 'the checkpoint has none' }, { hint });
  }

  async #variables() {
    this.#checkOpen();
    const path = await this.#newest('reading variables');
    const { readTensorBundle } = await import('../../io/tensor-bundle.js');
    return readTensorBundle(path);
  }

  /** What the model is made of, with the rows that its tables have in the newest checkpoint. Prints as a table. */
  summary(): ModelSummary {
    this.#checkOpen();
    return summaryOf(this.model, this.#place.known);
  }

  /**
   * Writes the newest checkpoint, or another, for serving: a new version in `dir`, a folder whose name is a number, in
   * all formats that are asked for. Returns it.
   */
  async export(dir: string, options: ExportOptions = {}): Promise<string> {
    this.#checkOpen();
    const { EXPORT_OPTIONS, exporterOfModels } = await import('../exporter.js');
    const given = checkOptions('Estimator.export', options, EXPORT_OPTIONS);
    const { formats = ['native'], checkpoint, compress, layout, version, ...beside } = given;
    const write = await exporterOfModels();
    const { prefetch: _prefetch, postpush: _postpush, ...own } = this.options;
    return write({
      model: this.model,
      checkpoint: checkpoint ?? (await this.#newest('an export')),
      dir,
      formats,
      session: sessionOptionsOf(own, this.model.schema.specs, this.#batchSize),
      compress,
      beside,
      layout,
      version,
    });
  }

  /** `export` of a SavedModel, by the name of the reference; `importSavedModel` infers with the native model beside. */
  exportSavedModel(dir: string, options: Omit<ExportOptions, 'formats'> = {}): Promise<string> {
    return this.export(dir, { ...options, formats: ['native', 'savedModel'] });
  }

  /** Opens an exported SavedModel to infer with. */
  async importSavedModel(path: string, options: ImportOptions = {}): Promise<ImportedModel> {
    this.#checkOpen();
    return (await (await import('../exporter.js')).importerOfSavedModels())(path, options);
  }

  /** Stops a training that is under way, which saves; ends the sessions; removes what was only kept for the while. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stop.abort();
    await this.#training;
    try {
      await (await this.#readings)?.close();
    } finally {
      this.#place.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #batchSize(): number {
    return this.options.batchSize ?? BATCH_SIZE;
  }

  async #sourceOf(where: string, data: unknown): Promise<BatchSource> {
    const { sourceOf } = await import('../../data/source-of.js');
    return sourceOf(where, this.model.schema, data as DataGiven<unknown>);
  }

  async #read(
    what: string,
    mode: 'eval' | 'predict',
    options: { readonly checkpoint?: string; readonly batchSize?: number },
  ): Promise<[Reading, { readonly checkpoint: string; readonly batchSize: number }]> {
    const checkpoint = options.checkpoint ?? (await this.#newest(what));
    const asked = { checkpoint, batchSize: options.batchSize ?? this.#batchSize };
    this.#readings ??= this.#openReadings();
    const readings = await this.#readings;
    return [await readings.use({ mode, ...asked }), asked];
  }

  async #newest(what: string): Promise<string> {
    const { newestCheckpoint } = await import('./newest-checkpoint.js');
    return newestCheckpoint(what, this.#place.known);
  }

  async #openReadings(): Promise<ReadingSessions> {
    const { ReadingSessions: Sessions } = await import('./reading-sessions.js');
    const { prefetch: _prefetch, postpush: _postpush, ...options } = this.options;
    return new Sessions(this.model, this.options.idleSeconds ?? IDLE_SECONDS, (batchSize) =>
      sessionOptionsOf(options, this.model.schema.specs, batchSize),
    );
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new MonolithError('ML_CLOSED', { what: 'the estimator' });
  }
}
