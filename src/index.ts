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

// Errors: one class, a code to test, fields to read.
export { ERROR_MESSAGES, type ErrorCode, MonolithError } from './base/errors.js';

// What a batch holds.
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
export {
  FeatureColumn,
  FeatureFactory,
  type FeatureFactoryOptions,
  type FeatureSlice,
  FeatureSlot,
  type FeatureSlotConfig,
} from './feature/model/feature-slot.js';
export { type Collections, Graph, type GraphOptions, Op, Tensor, type TensorSpec } from './graph/graph.js';
export type { Mode } from './graph/mode.js';
export type { DenseInput, Ids as LookupIds, Int64Input, RaggedInput } from './graph/typed-inputs.js';
export type { BatchData, BatchSchema, FeedSpec } from './memory/batch.js';
export type { Floats, Ids } from './memory/given-arrays.js';
// Running it: sessions, training, evaluation.
export { type EvaluateOptions, type Evaluation, evaluate } from './metrics/evaluate.js';
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
export {
  defineModel,
  type ModelFunction,
  type ModelIn,
  type ModelOptions,
  type ModelOutputs,
  type ModeOption,
  type OutputsIn,
} from './train/define-model.js';
export { LocalTrainer, type LocalTrainOptions, type TrainInput } from './train/local-train.js';
export type { ModelSpec } from './train/model-spec.js';
export { MonitoredSession, type MonitoredSessionOptions } from './train/monitored-session.js';
