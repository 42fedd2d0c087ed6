/** @file The tasks of this package: what `monolith run` knows by name. */
import { registeredTasks, registerTask } from '../train/runners/task-registry.js';
// Registers itself: FFMParams.
import './ffm-task.js';
import { FfmRunnerTask } from './ffm-runner-task.js';

/** Registers them, once. */
export function registerDemoTasks(): void {
  if (!registeredTasks().includes('ffm')) registerTask('ffm', () => new FfmRunnerTask());
}
