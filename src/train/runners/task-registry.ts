/** @file Tasks by the names that command lines call them by (core/model_registry). */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { RunnerTask } from './runner-task.js';

const tasks = new Map<string, () => RunnerTask>();

/**
 * Has `--task NAME` mean what `make` makes, each time anew. ML_ALREADY_EXISTS for a name that is taken.
 *
 * ```ts
 * registerTask('ffm', () => new FfmTask());
 * ```
 */
export function registerTask(name: string, make: () => RunnerTask): void {
  if (tasks.has(name)) {
    throw new MonolithError('ML_ALREADY_EXISTS', { what: `task ${name}`, reason: 'two tasks cannot share a name' });
  }
  tasks.set(name, make);
}

/** Names of the tasks there are, sorted. */
export function registeredTasks(): string[] {
  return [...tasks.keys()].sort();
}

/** A new task of a name; ML_NOT_FOUND, with the nearest one, where there is none. */
export function createTask(name: string): RunnerTask {
  const make = tasks.get(name);
  if (make !== undefined) return make();
  const names = registeredTasks();
  const hint = didYouMean(name, names) ?? `the tasks are ${names.join(', ') || 'none: register one with registerTask'}`;
  throw new MonolithError(
    'ML_NOT_FOUND',
    { what: `task ${name}`, reason: 'no task of this name is registered' },
    { hint },
  );
}
