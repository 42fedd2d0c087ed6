/** @file What is told of a thread that failed: its own error, or what became of the thread. */
import { MonolithError, messageOf } from '../../base/errors.js';

const HINT =
  'the limit on processes and threads is reached (ulimit -u, or pids.max of the container): ' +
  'raise it, or give fewer threads';

/** ML_THREADS when `cause` says that the system has no thread to give, else null. */
export function startError(thread: number | string, cause: unknown): MonolithError | null {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const reason = messageOf(cause);
  if (code !== 'ERR_WORKER_INIT_FAILED' && !/\bEAGAIN\b/.test(reason)) return null;
  return new MonolithError('ML_THREADS', { thread, reason }, { hint: HINT, cause });
}

/** An error with a code as it is; anything else as the cause of ML_WORKER. */
export function threadError(thread: number | string, cause: unknown): MonolithError {
  if (cause instanceof MonolithError) return cause;
  const reason = messageOf(cause);
  return startError(thread, cause) ?? new MonolithError('ML_WORKER', { thread, reason }, { cause });
}
