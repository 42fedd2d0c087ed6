/** @file Threads that the system refuses: what is told then, and what becomes of those it had granted. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { MonolithError, messageOf } from '../../base/errors.js';

const HINT =
  'the limit on processes and threads is reached (ulimit -u, or pids.max of the container): raise it, or give fewer threads';

/** ML_THREADS when `cause` says that the system has no thread to give, else null. */
export function startError(thread: number | string, cause: unknown): MonolithError | null {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const reason = messageOf(cause);
  if (code !== 'ERR_WORKER_INIT_FAILED' && !/\bEAGAIN\b/.test(reason)) return null;
  return new MonolithError('ML_THREADS', { thread, reason }, { hint: HINT, cause });
}

/**
 * The result of `start`, which starts several threads at once. When the system refuses one, those before it are ended: nobody
 * else knows them, and they count in the limit that was reached.
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
