/**
 * @file The public surface: everything `import { … } from 'monolith-ts'` gives. What is not here is free to change.
 *
 * Two classes of the sources are called Tensor. A node of a graph keeps the name; the one that holds values is
 * DenseTensor here.
 */

// Errors: one class, a code to test, fields to read.
export { ERROR_MESSAGES, type ErrorCode, MonolithError } from './base/errors.js';
// Files.
export {
  type CopyFileOptions,
  type CopyRecursivelyOptions,
  copyFile,
  copyRecursively,
} from './base/files/copy-files.js';
export {
  findMain,
  getDebuggingInfoFileName,
  getLibopsPath,
  getLocalHost,
  getMetaGraphFileName,
  getTestTmpDir,
  type LocalHostOptions,
} from './base/files/paths.js';
// Helpers of upstream's utils: lists, names, paths, the prefix of metrics.
export { checkList, extendAsList, toList } from './base/lists.js';
export { getMetricPrefix, setMetricPrefix } from './base/metric-prefix.js';
// Hyper-parameters: trees of named values, and classes made from them.
export {
  type AnyClass,
  allowedKwargs,
  copyParamsTo,
  InstantiableParams,
  updateParams,
  type WithParameters,
} from './base/params/instantiable-params.js';
export { Params, type ParamsOf, type ValueAt } from './base/params/params.js';
export { getUname, params, withParams } from './base/params/with-params.js';
export { LearningRateFunction, type Rate } from './base/rates/rate.js';
export {
  ConstantRate,
  CosineDecay,
  type CosineDecayOptions,
  CosineDecayRestarts,
  type CosineDecayRestartsOptions,
  type DecayOptions,
  ExponentialDecay,
  InverseTimeDecay,
  PiecewiseConstantDecay,
  PolynomialDecay,
  type PolynomialDecayOptions,
  Warmup,
  type WarmupOptions,
} from './base/rates/schedules.js';
export { toSnakeCase } from './base/snake-case.js';
// Checkpoints: save, find and load them, and tie them to a session.
export { type LoadedCheckpoint, latestCheckpoint, loadCheckpoint } from './checkpoint/load-checkpoint.js';
export { prepareModelDir } from './checkpoint/model-dir.js';
export { type SavedCheckpoint, type SaveOptions, saveCheckpoint } from './checkpoint/save-checkpoint.js';
export { restoreSession, snapshotSession } from './checkpoint/session-snapshot.js';
export type { DenseValue, ModelLayout, Snapshot, TableRow, TableSnapshot } from './checkpoint/snapshot.js';
// Data: batches in shared memory, the reader thread, what it reads, the demo's data sets.
export { type ArrayFileOptions, arrayFileDataset } from './data/array-file.js';
export { DataReader, type DataReaderOptions } from './data/data-reader.js';
export type { DatasetModule, DatasetSize, DatasetSource, OpenDataset } from './data/dataset-source.js';
export { loadBatches } from './data/resident-batches.js';
export {
  type DenseFeature,
  defineSchema,
  dense,
  type Features,
  type Feeds as SchemaFeeds,
  type Inputs,
  type LabelName,
  type RaggedFeature,
  ragged,
  type Schema,
} from './data/schema.js';
export {
  datasetSize,
  type FfmDatasetOptions,
  ffmBatches,
  ffmDataset,
  heldOutOf,
  loadFfmBatches,
} from './demo/ffm-dataset.js';
export { FFM_LENGTH_MAX, ffmSchema } from './demo/ffm-example.js';
export { buildFfm } from './demo/ffm-model.js';
// Features: slots with slices, the columns that look them up, and how the rows of an example become one.
export {
  applyGradientsWithVarOptimizer,
  type VarOptimizerOptions,
} from './feature/model/apply-gradients-with-var-optimizer.js';
export type { ClipOptions, ClipType } from './feature/model/clip-gradients.js';
export { type Combiner, FirstN, ReduceMean, ReduceSum } from './feature/model/combiners.js';
export {
  FeatureColumn,
  FeatureFactory,
  type FeatureFactoryOptions,
  type FeatureSlice,
  FeatureSlot,
  type FeatureSlotConfig,
} from './feature/model/feature-slot.js';
export type { FidColumn, FidColumns } from './feature/serving/fid-columns.js';
export { PartitionedHashTable, type PartitionedLookup } from './feature/serving/partitioned-hash-table.js';
// Graph: what a model is built of, and its gradients.
export {
  assignAllCachedVariables,
  CACHED_VARIABLES,
  type CachedVariableAssociates,
  cachedCopiesOf,
  cachedVariableCreator,
  fetchAllCachedVariables,
} from './graph/cached-variables.js';
export { checkOpsDependence } from './graph/check-ops-dependence.js';
export { addToCollections, getCollection } from './graph/collections.js';
export {
  type DeviceFunction,
  type DeviceScope,
  PS_JOB_NAME,
  psDevice,
  roundRobinVariables,
} from './graph/device.js';
export {
  defaultDeviceFn,
  deviceRule,
  disableGpuTraining,
  enableGpuTraining,
  getDeviceFn,
  getVisibleGpus,
  isGpuTraining,
  type TrainingTask,
} from './graph/device-utils.js';
export { gradients } from './graph/gradients.js';
export { Graph, Op, Tensor, type TensorSpec, type VariableCreator, type VariableOptions } from './graph/graph.js';
export {
  describeGraph,
  type GraphDescription,
  graphDescription,
  graphToJson,
  type OpDescription,
  readGraphJson,
} from './graph/graph-description.js';
export {
  type DiceOptions,
  dice,
  type GeluOptions,
  gelu,
  leakyRelu,
  prelu,
  relu,
  sigmoid,
  silu,
  softplus,
  swish,
  tanh,
} from './graph/ops/activations.js';
export { type SoftmaxOptions, softmax } from './graph/ops/attention.js';
export { batchMatMul, matMulInner } from './graph/ops/batch-matmul.js';
export { asPartial, type BatchSumAttrs, batchSum } from './graph/ops/batch-sum.js';
export { broadcastTo } from './graph/ops/broadcast.js';
export { type ClippedTensors, clipByGlobalNorm, clipByNorm, clipByValue, globalNorm } from './graph/ops/clip.js';
export { columns, concatColumns } from './graph/ops/columns.js';
export {
  add,
  addN,
  div,
  equal,
  greaterEqual,
  maximum,
  minimum,
  mul,
  type Operand,
  scale,
  sub,
} from './graph/ops/elementwise.js';
export { inbatchAucLoss } from './graph/ops/inbatch-auc.js';
export {
  addShared,
  broadcastInner,
  groupDot,
  maxInner,
  meanInner,
  mulShared,
  scaleGroups,
  sumInner,
  topK,
} from './graph/ops/inner.js';
export type { LossOptions } from './graph/ops/losses.js';
export {
  type FocalOptions,
  focalLoss,
  hingeLoss,
  sigmoidCrossEntropyWithLogits,
  softmaxCrossEntropyWithLogits,
  sparseSoftmaxCrossEntropyWithLogits,
  squaredError,
  weightedCrossEntropyWithLogits,
} from './graph/ops/losses.js';
export { matMul } from './graph/ops/matmul.js';
export { type BatchNormOptions, batchNorm, l2Normalize, layerNorm, UPDATE_OPS } from './graph/ops/norms.js';
export { cin, type FfmKind, ffm, fmPairs } from './graph/ops/pairs.js';
export {
  type Axis,
  type ReduceOptions,
  reduceMax,
  reduceMean,
  reduceSum,
  weightedMean,
} from './graph/ops/reductions.js';
export { addBias, rowDot, scaleColumns, scaleRows } from './graph/ops/rows.js';
export { sequenceLengths, sequenceMask } from './graph/ops/sequence.js';
export { reshape, stack, transposeInner, unstack } from './graph/ops/shape.js';
export { concatInner, gatherInner, sliceInner, splitInner } from './graph/ops/slices.js';
export {
  assign,
  assignAdd,
  constant,
  globalStep,
  group,
  idsPlaceholder,
  increment,
  LOCAL_VARIABLES,
  placeholder,
  raggedPlaceholder,
  VARIABLES,
  variable,
} from './graph/ops/state.js';
export { type DropoutOptions, dropout, ifTraining, type TrainingOption } from './graph/ops/training.js';
export { abs, cast, exp, log, neg, sign, sqrt, square, stopGradient } from './graph/ops/unary.js';
export { type GradAndVar, propagateBackDictGradients, propagateBackGradients } from './graph/propagate-back.js';
export { getNdim, intShape } from './graph/shapes.js';
export type { DenseInput, Ids as LookupIds, RaggedInput } from './graph/typed-inputs.js';
// What a partitioned table is told of its features.
export { OUT_TYPE, POOLING_TYPE } from './io/example-messages.js';
// Layers: variables and ops of the usual parts of a recommender model.
export type { LayerActivation } from './layers/activation.js';
export { CIN, type CinOptions } from './layers/cin-layer.js';
export { Cross, type CrossOptions } from './layers/cross.js';
export { Dense, type DenseOptions } from './layers/dense.js';
export { fieldAwareFm, fm } from './layers/factorization.js';
export { Layer, type LayerOptions, trainableVariables } from './layers/layer.js';
export { MLP, type MlpOptions } from './layers/mlp.js';
export { MMoE, type MmoeOptions } from './layers/mmoe.js';
export { type AttentionInputs, type AttentionOptions, MultiHeadAttention } from './layers/multi-head-attention.js';
export { SENet, type SenetOptions } from './layers/senet.js';
export { TargetAttention, type TargetAttentionOptions } from './layers/target-attention.js';
export type { WeightInitializer } from './layers/weight-initializers.js';
// Batches as values: what a schema says and a feed holds.
export type { BatchData, BatchSchema, FeedSpec } from './memory/batch.js';
export type { WhenFull } from './memory/table-layout.js';
// Metrics.
export { auc } from './metrics/auc.js';
export { type BucketCounts, BucketedAuc, ThresholdAuc } from './metrics/bucketed-auc.js';
export { createMetric, type MetricName } from './metrics/create-metric.js';
export { type EvaluateOptions, type Evaluation, evaluate } from './metrics/evaluate.js';
export { Auc } from './metrics/exact-auc.js';
export { GroupedAuc, NdcgAtK, RecallAtK } from './metrics/grouped.js';
export { Accuracy, Calibration, LogLoss, MeanAbsoluteError, RootMeanSquaredError } from './metrics/means.js';
export type { GroupKeys, Metric } from './metrics/metric.js';
// Dense optimizers, as `optimizers.AdamOptimizer`: one step of variables from their gradients; rates by step.
export { type ApplyGradientsOptions, applyGradients, type VariableOptimizer } from './optim/apply-gradients.js';
export type { ApplyOptions, GradientAndVariable, MinimizeOptions } from './optim/optimizer.js';
export * as optimizers from './optim/optimizers.js';
export { setVarOptimizer } from './optim/var-optimizers.js';
// Queues of tensors that are made ahead of their use, on the host or on a GPU.
export { AsyncQueue, type AsyncQueueOptions } from './queue/async-queue.js';
export { enqueueAll, prefetch } from './queue/prefetch.js';
export {
  type DequeueOptions,
  type DeviceRagged,
  type EnqueueOptions,
  PrefetchQueue,
  type PrefetchQueueOptions,
  type QueueTensor,
} from './queue/prefetch-queue.js';
// Session: runs programs of a graph on a pool of threads.
export type { DeviceBuffer } from './runtime/backends/cuda/device-buffer.js';
export { DeviceTensor } from './runtime/backends/cuda/device-tensor.js';
// CUDA: the driver, opened at run time, and the simulated one. Nothing native is loaded before it is asked for.
export { CudaDriver, type CudaDriverOptions } from './runtime/backends/cuda/driver.js';
export type { CudaDevice } from './runtime/backends/cuda/native.js';
export type {
  Extent,
  KernelArgument,
  LaunchOptions,
  PreparedLaunch,
  PtxKernel,
  PtxModule,
} from './runtime/backends/cuda/ptx-module.js';
export type { DeviceTableOptions } from './runtime/backends/cuda/resident-tables.js';
export type { Simulator, SimulatorControls, SimulatorCounters } from './runtime/backends/cuda/simulator.js';
export type { CudaEvent, CudaStream } from './runtime/backends/cuda/stream.js';
export { tryInitCuda } from './runtime/backends/cuda/try-init-cuda.js';
export { createKernelPacker } from './runtime/backends/wasm/kernel-packer.js';
export type { KernelVariant } from './runtime/backends/wasm/kernel-variants.js';
export type { BackendName } from './runtime/pool/protocol.js';
export type { FeedMap, FeedValue } from './runtime/session/feed-writer.js';
export type { FetchValue } from './runtime/session/fetch.js';
export {
  type Feeds,
  type Fetch,
  type Fetched,
  type FetchTree,
  Session,
  type SessionOptions,
} from './runtime/session/session.js';
export {
  TableMemory,
  type TableMemoryHandle,
  type TableMemoryOptions,
  type TablePolicy,
  type TableRegion,
} from './runtime/tables/table-memory.js';
// Embedding tables: their ops, their rows, their configuration, and the forms made of several of them.
export {
  type AdmissionFilter,
  type CreateFilterOptions,
  createFilter,
  DummyFilter,
  HashFilter,
  ProbabilisticFilter,
} from './sparse/admission/admission-filter.js';
export { restoreFilter, saveFilter } from './sparse/admission/filter-files.js';
export { extractSlot } from './sparse/config/extract-slot.js';
export { fidV1, fidV2, slotOfFidV1, slotOfFidV2 } from './sparse/config/fid.js';
export {
  BatchSoftmaxInitializer,
  ConstantsInitializer,
  OnesInitializer,
  RandomUniformInitializer,
  ZerosInitializer,
} from './sparse/config/initializers.js';
export {
  AdadeltaOptimizer,
  AdaGradWithGroupLassoOptimizer,
  AdagradOptimizer,
  AdamOptimizer,
  AmsgradOptimizer,
  BatchSoftmaxOptimizer,
  DynamicWdAdagradOptimizer,
  FixedR8Compressor,
  Fp16Compressor,
  Fp32Compressor,
  FTRLWithGroupSparsityOptimizer,
  FtrlOptimizer,
  MomentumOptimizer,
  MovingAverageOptimizer,
  OneBitCompressor,
  RmspropOptimizer,
  RmspropV2Optimizer,
  SgdOptimizer,
  withStochasticRounding,
} from './sparse/config/optimizers.js';
export {
  defineTable,
  generateTestHashTableConfig,
  HashTableConfigInstance,
  type SegmentOptions,
  type TableConfig,
  type TableDefinition,
} from './sparse/config/table-config.js';
export { rowsThatFit, type TableShape, type TableSize, tableSize } from './sparse/config/table-size.js';
export {
  type IterateOptions,
  iterateTable,
  saveAsTensor,
  type TablePortion,
} from './sparse/files/iterate-table.js';
export { featureStat } from './sparse/files/multi-meta.js';
export { type RestoredMultiTable, restoreMultiTable } from './sparse/files/restore-multi-table.js';
export { type RestoredTable, type RestoreTableOptions, restoreTable } from './sparse/files/restore-table.js';
export {
  type NamedTable,
  type SavedMultiTable,
  type SaveMultiTableOptions,
  saveMultiTable,
} from './sparse/files/save-multi-table.js';
export { type SavedTable, type SaveTableOptions, saveTable } from './sparse/files/save-table.js';
export { type AllToAll, LocalAllToAll } from './sparse/many/all-to-all.js';
export { DistributedHashTable } from './sparse/many/distributed-hash-table.js';
export { DistributedMultiTypeHashTable } from './sparse/many/distributed-multi-type-hash-table.js';
export {
  DistributedMultiTypeHashTableMpi,
  type SyncLookup,
} from './sparse/many/distributed-multi-type-hash-table-mpi.js';
export { type FusedEmbeddings, type FusedIds, fusedApplyGradient, fusedLookup } from './sparse/many/fused-lookup.js';
export { MergedMultiTypeHashTable, type MergedTable } from './sparse/many/merged-multi-type-hash-table.js';
export { MultiHashTable, type MultiHashTableOptions } from './sparse/many/multi-hash-table.js';
export {
  type BaseMultiTypeHashTable,
  MultiTypeHashTable,
  type SlotIds,
  type SlotRows,
  type SlotUpdates,
} from './sparse/many/multi-type-hash-table.js';
export { applyEmbeddingGradients, embeddingLookup, TABLES } from './sparse/steps/embedding-ops.js';
export { type LookupGradient, lookupGradient } from './sparse/steps/lookup-gradient.js';
export type { Pooling } from './sparse/steps/pooling.js';
export type { EmbeddingTable, IdArray, OptimizeOptions, UpdateOptions } from './sparse/table/embedding-table.js';
export {
  type AttachOptions,
  HashTable,
  type HashTableHandle,
  type TableOptions,
  type TableRowView,
} from './sparse/table/hash-table.js';
export { PeriodicEviction, type PeriodicEvictionOptions } from './sparse/table/periodic-eviction.js';
// The bounded set of ids touched since the last drain, shared by threads.
export {
  type Ids,
  TouchedKeySet,
  type TouchedKeySetHandle,
  type TouchedKeySetOptions,
} from './sparse/table/touched-key-set.js';
export { TouchedPairSet, type TouchedPairs } from './sparse/table/touched-pair-set.js';
export type { GateOptions, TouchedKeys, TouchRecorder } from './sparse/table/update-gate.js';
// Tensors that hold values, and the helpers of nested_tensors, ragged_utils, static_reshape_op and tensor_utils.
export { copyNested } from './tensor/copy-nested.js';
export { type LeafKinds, NestedTensors } from './tensor/nested.js';
export { RaggedTensor } from './tensor/ragged-tensor.js';
export { fusedValueRowids, normalizeMergedSplit } from './tensor/ragged-utils.js';
export { type PartialShape, StaticReshapeNBuilder, staticReshape } from './tensor/static-reshape.js';
export { type DType, Tensor as DenseTensor } from './tensor/tensor.js';
export { TensorPacking, type TensorPlaceholder } from './tensor/tensor-packing.js';
export {
  maybeSqueeze3dTensor,
  mergeDicts,
  type Packer,
  packTensors,
  packTypedKeyedTensors,
  splitTensorsWithType,
  unpackPackedTensors,
  unpackTensors,
} from './tensor/tensor-utils.js';
// Traces: write what a session recorded, read it back, sum it up.
export { type ChromeTraceReport, writeChromeTrace } from './trace/chrome-trace.js';
export { formatTraceSummary } from './trace/format-trace-summary.js';
export { summarizeTrace, type TraceSummary } from './trace/trace-summary.js';
export { AsyncFunctionMgr, AsyncPushHook, type AsyncTarget } from './train/async-function-mgr.js';
// Training: the loop, its hooks, the built-in model.
export { defineModel, type ModelFunction, type ModelOptions, type ModelOutputs } from './train/define-model.js';
export { CheckpointSaverHook, type CheckpointSaverOptions } from './train/hooks/checkpoint-saver.js';
export { Coordinator } from './train/hooks/coordinator.js';
export { EnqueueHook } from './train/hooks/enqueue-hook.js';
export { EvictionHook, type EvictionOptions } from './train/hooks/eviction.js';
export { FetchAllCachedVariablesHook } from './train/hooks/fetch-cached-variables.js';
export type { RunContext, TrainHook } from './train/hooks/hook.js';
export { NanTensorHook, type NanTensorOptions, nanTensorHook } from './train/hooks/nan-tensor.js';
export { StopAtStepHook } from './train/hooks/stop-at-step.js';
export { LocalTrainer, type LocalTrainOptions, type TrainInput } from './train/local-train.js';
export type { ModelSpec } from './train/model-spec.js';
export { MonitoredSession, type MonitoredSessionOptions } from './train/monitored-session.js';
export {
  type ExportMode,
  type Mode,
  monolithBaseModelParams,
  monolithModelParams,
  nativeTaskParams,
} from './train/task-params.js';
