/** @file The reference's names for tasks: native_task and its kin, the factories of feature and cpu_training. */
export { DummyFeatureFactory } from '../feature/model/dummy-feature-factory.js';
export type {
  EmbeddingFactory,
  EmbeddingGradientOptions,
  EmbeddingLayout,
  GradAndColumn,
  LayoutPart,
} from '../feature/model/embedding-factory.js';
export { CpuFeatureFactory, FeatureFactoryFromEmbeddings } from '../feature/model/factory-from-embeddings.js';
export { EmbeddingLayoutFactory, type EmbeddingLayoutFactoryOptions } from '../feature/model/layout-factory.js';
// sync_training_hooks, parameter_sync.
export { ParameterSyncClient } from '../serve/fresh/parameter-sync-client.js';
export { ParameterSyncHook, type ParameterSyncOptions } from '../serve/fresh/parameter-sync-hook.js';
export { createSyncBackend, FolderSyncBackend, LocalSyncBackend } from '../serve/fresh/sync-backends.js';
export type { ClientConfig, PushResponse, PushResult } from '../serve/fresh/sync-target.js';
export { type Broadcast, KvBroadcast } from '../train/hooks/broadcast.js';
export {
  currentGraph,
  getMeta,
  isDryRun,
  isDryRunOrExporting,
} from '../train/tasks/build-context.js';
export { CpuTraining } from '../train/tasks/cpu-training.js';
export { getCurrentSession, SetCurrentSessionHook } from '../train/tasks/current-session.js';
export { DumpUtils, type ModelDump } from '../train/tasks/dump-utils.js';
export { EOF_KEY, EofAwareTask, type FlagGather } from '../train/tasks/eof-aware-task.js';
export {
  EXPORT_MODE as ExportModes,
  ExportContext,
  type ExportModeName,
  type ExportSignature,
  enterExportMode,
  getCurrentExportContext,
  isExporting,
  isExportingDistributed,
  isExportingStandalone,
} from '../train/tasks/export-context.js';
export {
  FeatureWriter as FeatureEngineeringSaveHook,
  type FeatureWriterOptions,
  localFeatureEngineering,
} from '../train/tasks/feature-engineering.js';
export type { FeaturesGiven } from '../train/tasks/features-given.js';
export {
  defaultModelDir,
  type LocalRunOptions,
  type LocalTrainTaskOptions,
  localTrain,
  localTrainInternal,
} from '../train/tasks/local-train.js';
export { MonolithBaseModel, type MonolithBaseModelParams } from '../train/tasks/monolith-base-model.js';
export {
  type EmbeddingColumnOptions,
  type EmbeddingSliceOptions,
  MonolithModel,
  type MonolithModelParams,
} from '../train/tasks/monolith-model.js';
export { NativeContext, type NativeContextOptions } from '../train/tasks/native-context.js';
export {
  NativeEstimator as Estimator,
  type NativeEstimatorOptions as EstimatorOptions,
  type NativePredictOptions as EstimatorPredictOptions,
} from '../train/tasks/native-estimator.js';
export {
  type InputFn,
  type ModelFn,
  type ModelRunConfig,
  type NativeSpec,
  NativeTask,
  type NativeTaskParams,
  type ServingInputReceiver,
  type ServingInputReceiverFn,
  type TaskData,
  type TaskFeatures,
  type TaskInput,
  type TaskParams,
} from '../train/tasks/native-task.js';
export {
  getNativeTaskContext,
  isChief,
  makeNativeTaskContext,
  type NativeTaskContext,
  type SyncBackend,
  type SyncTargets,
  withNativeTaskContext,
} from '../train/tasks/native-task-context.js';
export {
  getDefaultParserCtx,
  isFusedLayout,
  ParserCtx,
  type ParserCtxOptions,
  withParserCtx,
} from '../train/tasks/parser-ctx.js';
export {
  ReqTimeControlDumpHook,
  type SaveTimer,
  type SyncHookOptions,
  SyncTrainingBarrierSaverListener,
  SyncTrainingForceDumpHook,
  SyncTrainingInfoHook,
  SyncTrainingSaverControlHook,
} from '../train/tasks/sync-training-hooks.js';
export {
  TaskEstimator,
  type TaskEstimatorOptions,
  type TaskPredictOptions,
  type TaskTrainOptions,
} from '../train/tasks/task-estimator.js';
export {
  getSigmoidLossAndPred,
  getSoftmaxLossAndPred,
  type LossAndPred,
  type SigmoidLossOptions,
  type SoftmaxLossOptions,
} from '../train/tasks/task-losses.js';
export { registerTask, taskNames, taskParams } from '../train/tasks/task-registry.js';
