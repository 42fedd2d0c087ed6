/** @file Hooks: what sees every step of a training, and may stop it. `hooks` of the package. */
export { AsyncPushHook } from '../train/async-function-mgr.js';
export { CheckpointSaverHook, type CheckpointSaverOptions } from '../train/hooks/checkpoint-saver.js';
export { Coordinator } from '../train/hooks/coordinator.js';
export { EnqueueHook } from '../train/hooks/enqueue-hook.js';
export { EvictionHook, type EvictionOptions } from '../train/hooks/eviction.js';
export { FetchAllCachedVariablesHook } from '../train/hooks/fetch-cached-variables.js';
export type { RunContext, TrainHook } from '../train/hooks/hook.js';
export { NanTensorHook, type NanTensorOptions } from '../train/hooks/nan-tensor.js';
export { StopAtStepHook } from '../train/hooks/stop-at-step.js';
