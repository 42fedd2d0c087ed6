/** @file How many threads a pool can have. */
import { availableParallelism } from 'node:os';
import { MonolithError } from '../../base/errors.js';
import { THREADS_MAX } from '../../memory/limits.js';

/** Threads of a session that does not say how many: one per core. */
export function usualThreads(): number {
  return Math.min(availableParallelism(), THREADS_MAX);
}

/** ML_FLAG for a number of threads that no pool has; before anything is made for each of them. */
export function checkThreads(threads: number): void {
  if (Number.isInteger(threads) && threads >= 1 && threads <= THREADS_MAX) return;
  throw new MonolithError('ML_FLAG', { flag: 'threads', reason: `${threads} is not between 1 and ${THREADS_MAX}` });
}
