/** @file Trains and evaluates a task of native_training for a runner, in this process, by the runner's settings. */
import { CpuTrainingConfig } from '../config/training-config.js';
import type { RunnerEstimator, RunnerPlace } from '../runners/runner-task.js';
import { keepTableKind, localConfig } from './local-config.js';
import type { ModelGiven } from './model-given.js';
import { servingServers } from './serving-config.js';
import { backendOf } from './synced-training.js';
import { TaskEstimator } from './task-estimator.js';

export async function runnerEstimatorOf(model: ModelGiven, place: RunnerPlace): Promise<RunnerEstimator> {
  const { modelDir, signal, config: settings } = place;
  const config = configOf(place);
  await keepTableKind(config, modelDir);
  const syncBackend = settings === undefined ? undefined : await backendOf(settings, modelDir);
  const estimator = new TaskEstimator({
    ...{ params: model, config, modelDir },
    ...(syncBackend && { syncBackend }),
    ...(settings && { servers: servingServers(settings) }),
  });
  const stops = signal === undefined ? {} : { signal };
  return {
    train: async (limits) => {
      const { step: globalStep, loss } = await estimator.train({ ...limits, ...stops });
      return { globalStep, loss };
    },
    evaluate: (options) => estimator.evaluate({ ...options, ...stops }),
    close: () => estimator.close(),
  };
}

/** The settings of a RunnerConfig, else what every runner says. */
function configOf({ config, saveCheckpointsSteps, saveCheckpointsSecs, checkpointsMaxToKeep }: RunnerPlace) {
  if (config !== undefined) {
    const given: object = config;
    const own = Object.entries(given).filter(([name]) => Object.hasOwn(CpuTrainingConfig.fields, name));
    const { restoreCkpt } = config;
    return Object.assign(localConfig(new CpuTrainingConfig(Object.fromEntries(own))), { restoreCkpt });
  }
  return new CpuTrainingConfig({
    saveCheckpointsSteps,
    ...(saveCheckpointsSecs != null && { saveCheckpointsSecs }),
    ...(checkpointsMaxToKeep !== undefined && { checkpointsMaxToKeep }),
  });
}
