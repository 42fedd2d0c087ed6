/** @file Starts several threads at once; when the system refuses one, those it had granted are ended. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { startError } from './thread-error.js';

/**
 * The result of `start`, which starts several threads at once. When the system refuses one, those before it are ended:
 * nobody else knows them, and they count in the limit that was reached.
 */
export async function startTogether<T>(start: () => T): Promise<T> {
  // Threads are announced at the end of the turn they were started in: from a new turn on it is only those of `start`.
  await nextTurn();
  const started: Worker[] = [];
  const listen = (worker: Worker): void => {
    started.push(worker);
  };
  process.on('worker', listen);
  try {
    return start();
  } catch (cause) {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    for (const worker of started) worker.removeAllListeners(); // a pool that hears of their end starts others
    await Promise.all(started.map((worker) => worker.terminate()));
    throw startError(started.length, cause) ?? cause;
  } finally {
    process.off('worker', listen);
  }
}
