/** @file The input of a task as a source of batches, which ends when the task says and not when a call does. */
import type { BatchSource } from '../../data/batch-source.js';
import { sourceOf } from '../../data/source-of.js';
import type { TaskInput } from './native-task.js';

/** Passes and the size of a batch are the task's; a call may stop earlier. */
export function taskSource({ schema, data, batchSize, epochs = 1 }: TaskInput): BatchSource {
  const source = sourceOf<unknown>('the input of a task', schema, data as BatchSource);
  return { open: (session, options) => source.open(session, { ...options, batchSize, epochs }) };
}
