/** @file Hooks: what sees every step of a training, and may stop it. `hooks` of the package. */

export { type Clock, type RandomIntegers, systemClock, systemRandom } from '../base/clock.js';
export { type MetricsClient, type MetricTags, noMetrics } from '../base/metrics-client.js';
export { AsyncPushHook } from '../train/async-function-mgr.js';
export { BarrierHook, BarrierOp, type BarrierOptions } from '../train/hooks/barrier.js';
export { CheckpointSaverHook, type CheckpointSaverOptions } from '../train/hooks/checkpoint-saver.js';
export { type ControlKv, LocalControlKv } from '../train/hooks/control-kv.js';
export { ControllerFlags, ControllerHook, type ControllerOptions, StopHelper } from '../train/hooks/controller.js';
export { Coordinator } from '../train/hooks/coordinator.js';
export { CsvLogHook, type CsvLogOptions } from '../train/hooks/csv-log.js';
export { type EarlyStop, EarlyStopping, type EarlyStoppingOptions } from '../train/hooks/early-stopping.js';
export { EnqueueHook } from '../train/hooks/enqueue-hook.js';
export {
  EvaluationHook,
  type EvaluationHookOptions,
  type EvaluationListener,
  type EvaluationModel,
  type EvaluationReport,
} from '../train/hooks/evaluation.js';
export { EvictionHook, type EvictionOptions } from '../train/hooks/eviction.js';
export { FetchAllCachedVariablesHook } from '../train/hooks/fetch-cached-variables.js';
export type { SummaryHead } from '../train/hooks/head-metrics.js';
export type { RunContext, TrainHook } from '../train/hooks/hook.js';
export { inputStateOf, restoreInputState } from '../train/hooks/input-state.js';
export { KeepBest, type KeepBestOptions } from '../train/hooks/keep-best.js';
export { type FeedSource, MultiQueueRunner } from '../train/hooks/multi-queue-runner.js';
export { NanTensorHook, type NanTensorOptions } from '../train/hooks/nan-tensor.js';
export { ProfilerHook, type ProfilerOptions } from '../train/hooks/profiler.js';
export { type Progress, ProgressHook, type ProgressOptions } from '../train/hooks/progress.js';
export { QueryActionHook, type QueryActionOptions } from '../train/hooks/query-action.js';
export type { CheckpointSaverListener } from '../train/hooks/saver-listener.js';
export { StepLoggerHook, type StepLoggerOptions } from '../train/hooks/step-logger.js';
export { CustomGlobalStepWaiterHook, type GlobalStepWaiterOptions } from '../train/hooks/step-waiter.js';
export { StopAtStepHook } from '../train/hooks/stop-at-step.js';
export { SummarySaverHook, type SummarySaverOptions } from '../train/hooks/summary-saver.js';
export { ChiefSyncHook, SyncHelper, TrainingHooksHelper, WorkerSyncHook } from '../train/hooks/sync-hooks.js';
export { type Throughput, ThroughputMetricHook, type ThroughputOptions } from '../train/hooks/throughput.js';
export { TideStoppingHook, type TideWindow, tideAvailableNow } from '../train/hooks/tide.js';
export { SecondOrStepTimerWithTideSetting, type TideTimerOptions } from '../train/hooks/tide-timer.js';
export { type Asked, TrainAsks } from '../train/hooks/train-asks.js';
export { addDumpHandler, type DumpOptions, type DumpSignal } from '../train/signal-utils.js';
