/** @file The first batch of a task's input, as it lies in the memory of a session. */
import { readBatch } from '../../../src/memory/batch.js';
import type { Session } from '../../../src/runtime/session/session.js';
import { coreOf } from '../../../src/runtime/session/session-handle.js';
import type { TaskInput } from '../../../src/train/tasks/native-task.js';
import { taskSource } from '../../../src/train/tasks/task-source.js';

/** Values by feature. */
export async function batchOf(
  session: Session,
  input: TaskInput,
): Promise<Readonly<Record<string, Float32Array | BigInt64Array>>> {
  const opened = await taskSource(input).open(session, { mode: 'train', batchSize: input.batchSize, epochs: 1 });
  const { specs } = input.schema;
  const { feeds } = readBatch(coreOf(session).views, await opened.next(), specs);
  await opened.close?.();
  return Object.fromEntries(specs.map(({ name }, index) => [name, feeds[index]!.values]));
}
