/// <reference types="node" preserve="true" />
/**
 * @file `monolith-ts/compat`: the reference's names in camelCase, by the module of the reference they come from.
 *
 * What people meet first is `monolith-ts`; this is for who knows Monolith and looks for a name, or moves code over.
 * Functions on a graph take it as an argument; docs/parity.md says what else differs.
 */

// monolith/utils, path_utils.
export {
  type CopyFileOptions,
  type CopyRecursivelyOptions,
  copyFile,
  copyRecursively,
} from '../base/files/copy-files.js';
export {
  findMain,
  findMainByMarkers,
  getDebuggingInfoFileName,
  getLibopsPath,
  getLocalHost,
  getMetaGraphFileName,
  getTestTmpDir,
  type LocalHostOptions,
} from '../base/files/paths.js';
// native_training/utils.
export { checkList, extendAsList, toList } from '../base/lists.js';
export { getMetricPrefix, setMetricPrefix } from '../base/metric-prefix.js';
// distribution_utils.
export { getMpiLocalRank, getMpiLocalSize, getMpiRank, getMpiSize } from '../base/mpi-position.js';
// hyperparams and with_params of core; `utils.params` is the decorator of that name.
export {
  type AnyClass,
  allowedKwargs,
  copyParamsTo,
  InstantiableParams,
  updateParams,
  type WithParameters,
} from '../base/params/instantiable-params.js';
export { Params, type ParamsOf, type ValueAt } from '../base/params/params.js';
export { getUname, withParams } from '../base/params/with-params.js';
// optimizers of variables, with the functions of shampoo; learning_rate_functions and the schedules of TensorFlow.
export { CosineDecay, CosineDecayRestarts } from '../base/rates/cosine-decay.js';
export { LearningRateFunction } from '../base/rates/rate.js';
export {
  ConstantRate,
  ExponentialDecay,
  InverseTimeDecay,
  PiecewiseConstantDecay,
  PolynomialDecay,
  Warmup,
} from '../base/rates/schedules.js';
export { toSnakeCase } from '../base/snake-case.js';
export { copyCkptFile, waitForAdoption } from '../checkpoint/adopt-checkpoint.js';
export {
  getCheckpointState,
  getLatestCheckpointState,
  type ReadStateOptions,
} from '../checkpoint/checkpoint-state-reader.js';
export { getMonolithCheckpointState } from '../checkpoint/monolith-state.js';
// save_utils, runner_utils.
export { isabs } from '../checkpoint/names.js';
// feature, feature_utils, embedding_combiners.
export { type Combiner, FirstN, ReduceMean, ReduceSum } from '../feature/model/combiners.js';
export { createEmbeddingSlices } from '../feature/model/embedding-slices.js';
export { FeatureColumn } from '../feature/model/feature-column.js';
export { FeatureFactory } from '../feature/model/feature-factory.js';
export { FeatureSlot } from '../feature/model/feature-slot.js';
// fid, sharding_sparse_fids, fused_embedding_to_layout.
export {
  fusedEmbeddingToLayout,
  fusedEmbeddingToLayoutGradient,
  fusedEmbeddingToLayoutGradient as fusedEmbeddingToLayoutGrad,
} from '../feature/serving/fused-embedding-to-layout.js';
export { exampleOfInstance } from '../feature/serving/instance-to-example.js';
export { KernelLayout } from '../feature/serving/kernel-layout.js';
export { compileLayout, type LayoutPlan } from '../feature/serving/layout-plan.js';
// multi_hash_table_ops, multi_type_hash_table, distributed_ps, distributed_ps_sync.
export { PartitionedHashTable } from '../feature/serving/partitioned-hash-table.js';
export { createKernelSharding } from '../feature/serving/sharding-backend.js';
export { shardingSparseFids } from '../feature/serving/sharding-sparse-fids.js';
// variables.
export {
  assignAllCachedVariables,
  CACHED_VARIABLES,
  type CachedVariableAssociates,
  cachedVariableCreator,
  fetchAllCachedVariables,
} from '../graph/cached-variables.js';
export { checkOpsDependence } from '../graph/check-ops-dependence.js';
export { addToCollections, getCollection } from '../graph/collections.js';
export { PS_JOB_NAME, psDevice } from '../graph/device.js';
// device_utils.
export {
  defaultDeviceFn,
  deviceRule,
  disableGpuTraining,
  enableGpuTraining,
  getDeviceFn,
  getDeviceStr,
  getVisibleGpus,
  inputDeviceFn,
  isGpuTraining,
  maybeDeviceIfAllowed,
  modelDeviceFn,
  servingInputDeviceFn,
  skipDevice,
  type TrainingTask,
  withinPlacementContextOf,
} from '../graph/device-utils.js';
export { type GradAndVar, propagateBackDictGradients, propagateBackGradients } from '../graph/propagate-back.js';
export { getNdim, intShape } from '../graph/shapes.js';
export {
  type CheckpointState,
  formatCheckpointState,
  formatMonolithCheckpointState,
  type MonolithCheckpointState,
  parseCheckpointState,
  parseMonolithCheckpointState,
} from '../io/checkpoint-state.js';
export { OUT_TYPE, POOLING_TYPE } from '../io/example-messages.js';
// layers.
export { AttentionLayer as MultiHeadAttention } from '../layers/attention-layer.js';
export { CinLayer as CIN } from '../layers/cin-layer.js';
export { CrossLayer as Cross } from '../layers/cross-layer.js';
export { DenseLayer as Dense } from '../layers/dense-layer.js';
export { MlpLayer as MLP } from '../layers/mlp-layer.js';
export { MmoeLayer as MMoE } from '../layers/mmoe-layer.js';
export { SenetLayer as SeNet } from '../layers/senet-layer.js';
export { setVarOptimizer } from '../optim/var-optimizers.js';
export { tryInitCuda } from '../runtime/backends/cuda/try-init-cuda.js';
// nested_tensors, ragged_utils, static_reshape_op, tensor_utils.
export { createKernelPacker } from '../runtime/backends/wasm/kernel-packer.js';
// hash_filter_ops, touched_key_set_ops.
export { createFilter, DummyFilter } from '../sparse/admission/admission-filter.js';
export { restoreFilter, saveFilter } from '../sparse/admission/filter-files.js';
export { HashFilter } from '../sparse/admission/hash-filter.js';
export { ProbabilisticFilter } from '../sparse/admission/probabilistic-filter.js';
export { extractSlot } from '../sparse/config/extract-slot.js';
export {
  convertFidsV1ToV2,
  fidV1,
  fidV1ToV2,
  fidV2,
  slotOfFidV1,
  slotOfFidV2,
  switchSlot,
} from '../sparse/config/fid.js';
// entry: initializers, row optimizers, compressors; hash_table_ops and its kin.
export {
  BatchSoftmaxInitializer,
  ConstantsInitializer,
  OnesInitializer,
  RandomUniformInitializer,
  ZerosInitializer,
} from '../sparse/config/initializers.js';
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
} from '../sparse/config/optimizers.js';
export { generateTestHashTableConfig, HashTableConfigInstance } from '../sparse/config/table-config.js';
export { saveAsTensor } from '../sparse/files/iterate-table.js';
export { featureStat } from '../sparse/files/multi-meta.js';
export { type AllToAll, LocalAllToAll } from '../sparse/many/all-to-all.js';
export { DistributedHashTable } from '../sparse/many/distributed-hash-table.js';
export { DistributedMultiTypeHashTable } from '../sparse/many/distributed-multi-type-hash-table.js';
export { DistributedMultiTypeHashTableMpi } from '../sparse/many/distributed-multi-type-hash-table-mpi.js';
export { fusedApplyGradient, fusedLookup } from '../sparse/many/fused-lookup.js';
export { MergedMultiTypeHashTable } from '../sparse/many/merged-multi-type-hash-table.js';
export { MultiHashTable } from '../sparse/many/multi-hash-table.js';
export { MultiTypeHashTable } from '../sparse/many/multi-type-hash-table.js';
export type { Routing } from '../sparse/many/routed-ids.js';
export { type LookupGradient, lookupGradient } from '../sparse/steps/lookup-gradient.js';
export { HashTable } from '../sparse/table/hash-table.js';
export { PeriodicEviction } from '../sparse/table/periodic-eviction.js';
export { TouchedKeySet } from '../sparse/table/touched-key-set.js';
// summary/utils, summary/summary_ops.
export { getNasWeightJson } from '../summary/nas-weight.js';
export {
  createSummaryMetadata,
  KDATA,
  KMETA,
  KTYPE,
  MONOLITH_FI_DATA,
  MONOLITH_NAS_DATA,
  PLUGIN_NAME,
  prepareHead,
  SummaryType,
} from '../summary/summary-metadata.js';
export { featureInsightData, nasData } from '../summary/summary-ops.js';
export { copyNested } from '../tensor/copy-nested.js';
export { type LeafKinds, NestedTensors } from '../tensor/nested.js';
export { RaggedTensor } from '../tensor/ragged-tensor.js';
export { fusedValueRowids, normalizeMergedSplit } from '../tensor/ragged-utils.js';
export { type PartialShape, StaticReshapeNBuilder, staticReshape } from '../tensor/static-reshape.js';
export { TensorPacking, type TensorPlaceholder } from '../tensor/tensor-packing.js';
export {
  maybeSqueeze3dTensor,
  mergeDicts,
  type Packer,
  packTensors,
  packTypedKeyedTensors,
  splitTensorsWithType,
  unpackPackedTensors,
  unpackTensors,
} from '../tensor/tensor-utils.js';
// estimator: with options in place of a RunnerConfig.
export { EstimatorSpec, type EstimatorSpecFields } from '../train/estimator-spec.js';
// session_run_hooks, sync_hooks, barrier_ops, controller.
export { BarrierHook, BarrierOp } from '../train/hooks/barrier.js';
// basic_restore_hook.
export { CheckpointRestorerHook, type CheckpointRestorerListener } from '../train/hooks/checkpoint-restorer.js';
export { ControllerHook, STOP_ACTION, StopHelper } from '../train/hooks/controller.js';
export { FetchAllCachedVariablesHook } from '../train/hooks/fetch-cached-variables.js';
export { QueryActionHook } from '../train/hooks/query-action.js';
export type { CheckpointSaverListener } from '../train/hooks/saver-listener.js';
export { CustomGlobalStepWaiterHook } from '../train/hooks/step-waiter.js';
export { ChiefSyncHook, SyncHelper, TrainingHooksHelper, WorkerSyncHook } from '../train/hooks/sync-hooks.js';
// throughput metrics of hooks, test_utils.
export { ThroughputMetricHook } from '../train/hooks/throughput.js';
export { before, TideStoppingHook, tideAvailableNow } from '../train/hooks/tide.js';
export { SecondOrStepTimerWithTideSetting } from '../train/hooks/tide-timer.js';
export { type ProfileOptions, profileIt } from '../train/profile-it.js';
// signal_utils.
export { addSiguser1Handler, printStackTrace } from '../train/signal-utils.js';
export {
  type ExportMode,
  type Mode,
  monolithBaseModelParams,
  monolithModelParams,
  nativeTaskParams,
} from '../train/task-params.js';
export * as distributionOps from './distribution-ops.js';
export { applyGradients, applyGradientsWithVarOptimizer, GradClipType } from './feature-utils.js';
export * as gflagsUtils from './gflags-utils.js';
export {
  createDummyHashFilter,
  createHashFilter,
  createHashFilters,
  createProbabilisticFilter,
  FilterType,
  HASH_FILTER_CAPACITY,
  HASH_FILTER_SPLIT_NUM,
  type HashFiltersOptions,
  interceptGradient,
  restoreHashFilter,
  saveHashFilter,
} from './hash-filter-ops.js';
export {
  CombineAsSegment,
  extractSlotFromEntry,
  type FromConfigOptions,
  hashTableFromConfig,
  StochasticRoundingFloat16OptimizerWrapper,
  testHashTable,
} from './hash-table-ops.js';
export { inferDimSize, iterateTableAndApply } from './hash-table-utils.js';
export * as optimizers from './optimizers.js';
// prefetch_queue.
export * from './prefetch-queue.js';
export * from './runner-utils.js';
export { NoFirstSaveCheckpointSaverHook, SaveHelper } from './save-utils.js';
export * from './savers.js';
export { applySparsePrecond, eigenInverseRoot, type InverseRoot } from './shampoo.js';
export * from './tasks.js';
export {
  createTouchedKeySet,
  TOUCHED_KEY_SET_CAPACITY,
  TOUCHED_KEY_SET_CONCURRENCY_LEVEL,
} from './touched-key-set-ops.js';
export * as utils from './utils.js';
