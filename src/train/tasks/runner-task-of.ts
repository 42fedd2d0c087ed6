/** @file A task of native_training for runners: trained and evaluated in this process by their settings. */
import { cpuTrainingFields } from '../config/training-fields.js';
import type { RunnerTask } from '../runners/runner-task.js';
import { type ModelGiven, paramsOf } from './model-given.js';

/** A task that runners train, of the parameters of one. */
export function runnerTaskOf(model: ModelGiven): RunnerTask {
  const params = paramsOf(model);
  return {
    params,
    settings: [...Object.keys(cpuTrainingFields), 'bzid', 'baseName', 'unifiedServing'],
    // Naming a task is cheap: what trains it is loaded when it is trained.
    createEstimator: async (place) => (await import('./runner-estimator.js')).runnerEstimatorOf(model, place),
  };
}
