/** @file Tasks of native_training by name: those of runners, which command lines call them by (core/model_registry). */
import { createTask, registeredTasks, registerTask as registerRunnerTask } from '../runners/task-registry.js';
import type { TaskParams } from './native-task.js';
import { runnerTaskOf } from './runner-task-of.js';

/**
 * Has a name mean the task of these parameters, made anew each time: in programs, and in `monolith run --task=NAME`.
 * ML_ALREADY_EXISTS for a name that is taken.
 *
 * ```ts
 * registerTask('clicks', () => Clicks.params());
 * ```
 */
export function registerTask(name: string, makeParams: () => TaskParams): void {
  registerRunnerTask(name, () => runnerTaskOf(makeParams()));
}

/** Names of the tasks that are registered. */
export function taskNames(): string[] {
  return registeredTasks();
}

/** New parameters of a registered task; ML_NOT_FOUND with the nearest name for one that is not. */
export function taskParams(name: string): TaskParams {
  const { params } = createTask(name);
  return params as typeof params & TaskParams;
}
