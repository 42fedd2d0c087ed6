/** @file Configuration and runners: cpu_training, runner_utils, estimator, base_runner and its kin, model_registry. */
export { type PrepareOptions, prepareRunner } from '../train/config/prepare-runner.js';
export { type ResolvedConfig, resolveConfig, type Setting, settingsOf } from '../train/config/resolved-config.js';
export { RunConfig, type RunConfigValues } from '../train/config/run-config.js';
export { type ConfigSources, RunnerConfig, type RunnerConfigValues } from '../train/config/runner-config.js';
export { CpuTrainingConfig, DistributedCpuTrainingConfig } from '../train/config/training-config.js';
export { addMpiExceptionHook, type MpiExceptionHookOptions } from '../train/mpi-exception-hook.js';
export { BaseRunner, type RunnerOptions, type RunnerResult } from '../train/runners/base-runner.js';
export { GpuRunner as GPURunner } from '../train/runners/gpu-runner.js';
export { NativeRunner } from '../train/runners/native-runner.js';
export { GpuRunnerSettings, TpuRunnerSettings } from '../train/runners/runner-settings.js';
export type { RunnerEstimator, RunnerPlace, RunnerTask } from '../train/runners/runner-task.js';
export {
  createTask as createRunnerTask,
  registeredTasks as registeredRunnerTasks,
  registerTask as registerRunnerTask,
} from '../train/runners/task-registry.js';
export { TpuRunner as TPURunner } from '../train/runners/tpu-runner.js';

/** What a process runs in. */
export const ContainerType = { DOCKER: 1, NATIVE: 2 } as const;
export type ContainerType = (typeof ContainerType)[keyof typeof ContainerType];

/** How processes find each other: values of `discoveryType`. */
export const ServiceDiscoveryType = { PRIMUS: 'primus', CONSUL: 'consul', ZK: 'zk', MLP: 'mlp' } as const;
