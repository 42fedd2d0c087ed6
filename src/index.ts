/// <reference types="node" preserve="true" />
/**
 * @file The front door: what `import { … } from 'monolith-ts'` gives. What is not here, in the namespaces below or in a
 * subpath (`/tables`, `/cuda`, `/trace`, `/compat`) is free to change.
 *
 * Names that every model needs stand here, all others in a namespace by subject. Two classes of the sources are called
 * Tensor: a node of a graph keeps the name, the one that holds values is DenseTensor here.
 */

// Namespaces: each is a file of src/api.
export * as checkpoints from './api/checkpoints.js';
export * as combiners from './api/combiners.js';
export * as data from './api/data.js';
export * as demo from './api/demo.js';
export * as graphs from './api/graphs.js';
export * as hooks from './api/hooks.js';
export * as losses from './api/losses.js';
export * as metrics from './api/metrics.js';
export * as nn from './api/nn.js';
export * as tables from './api/one-table.js';
export * as ops from './api/ops.js';
export * as optim from './api/optim.js';
export * as queues from './api/queues.js';
export * as schedules from './api/schedules.js';
export * as sparse from './api/sparse.js';
export * as summaries from './api/summaries.js';
export * as zoo from './api/zoo.js';

// Errors: one class, a code to test, fields to read.
export { ERROR_MESSAGES, type ErrorCode, MonolithError } from './base/errors.js';

// Where rows come from.
export { Dataset } from './data/dataset.js';
// What a batch holds.
export {
  f,
  type IdFeature,
  type IdsFeature,
  type IntFeature,
  type LabelFeature,
  type NumberFeature,
  type TimeFeature,
} from './data/fields.js';
export {
  type DenseFeature,
  defineSchema,
  dense,
  type Features,
  type Feeds as SchemaFeeds,
  type Inputs,
  type Int64Feature,
  type LabelName,
  type RaggedFeature,
  ragged,
  type Schema,
} from './data/schema.js';
// What a model is made of.
export { FeatureColumn } from './feature/model/feature-column.js';
export { FeatureFactory, type FeatureFactoryOptions } from './feature/model/feature-factory.js';
export { type FeatureSlice, FeatureSlot, type FeatureSlotConfig } from './feature/model/feature-slot.js';
export { type Collections, Graph, type GraphOptions, Op, Tensor, type TensorSpec } from './graph/graph.js';
export type { Mode } from './graph/mode.js';
export type { DenseInput, Ids as LookupIds, Int64Input, RaggedInput } from './graph/typed-inputs.js';
export type { BatchData, BatchSchema, FeedSpec } from './memory/batch.js';
export type { Floats, Ids } from './memory/given-arrays.js';
// Running it: sessions, training, evaluation.
export { type EvaluateOptions, type Evaluation, evaluate } from './metrics/evaluate.js';
export type { EmbedOptions } from './model/embeddings.js';
export type { HeadKind, HeadLoss, Heads, ModelHead } from './model/heads.js';
export type { HeadOptions, Logit, ModelBuilder } from './model/model-builder.js';
export type { KernelVariant } from './runtime/backends/wasm/kernel-variants.js';
export type { BackendName } from './runtime/pool/load-backend.js';
export type { FeedMap, FeedValue } from './runtime/session/feed-writer.js';
export type { FetchValue } from './runtime/session/fetch.js';
export {
  type Feeds,
  type Fetch,
  type Fetched,
  type FetchTree,
  type RunOptions,
  Session,
  type SessionOptions,
  type TypedSchema,
} from './runtime/session/session.js';
export {
  defineTable,
  type SegmentOptions,
  type TableConfig,
  type TableDefinition,
} from './sparse/config/table-config.js';
export { RaggedTensor } from './tensor/ragged-tensor.js';
export { type DType, Tensor as DenseTensor } from './tensor/tensor.js';
export { defineConfig, type TrainConfig } from './train/config/define-config.js';
export type { ResolvedConfig } from './train/config/resolved-config.js';

import './report/provide.js';
import './serve/provide.js';

export { loadModel } from './serve/load-model.js';
export type { LoadedHead, LoadedModel, LoadModelOptions } from './serve/loaded-model.js';
export { defineModel, type ModelFunction, type ModelOptions, type ModelOutputs } from './train/define-model.js';
export { Estimator, type ExportOptions, type TypedModel } from './train/estimator/estimator.js';
export type { EstimatorEvent } from './train/estimator/estimator-event.js';
export type { BuiltModel, EstimatorModel } from './train/estimator/estimator-model.js';
export type { EstimatorOptions, HooksGiven, WarmStart } from './train/estimator/estimator-options.js';
export type { EstimatorEvaluateOptions, EvaluateResult } from './train/estimator/evaluate-call.js';
export type { Prediction, PredictionBatch, PredictOptions } from './train/estimator/predict-call.js';
export type { Recommended, RecommendOptions } from './train/estimator/recommend-call.js';
export type { ModelSummary } from './train/estimator/summary.js';
export type { EvaluateDuring, StopEarly, TrainOptions, TrainProgress } from './train/estimator/train-options.js';
export type { BestEvaluation, StoppedBy, TrainResult } from './train/estimator/train-result.js';
export type { ExportFormat, ExportRequest, ImportedModel } from './train/exporter.js';
export { LocalTrainer, type LocalTrainOptions, type TrainInput } from './train/local-train.js';
export type { BuildOptions, Model } from './train/model.js';
export type { ModelIn, ModelSpec } from './train/model-spec.js';
export { MonitoredSession, type MonitoredSessionOptions } from './train/monitored-session.js';
