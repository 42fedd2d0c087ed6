/**
 * @file The lock of assembly/sync.ts as TypeScript takes it: the same word, so both sides keep each other out.
 *
 * Word: 0 free, 1 held, 2 held with sleepers. For work between kernel calls that must not be interrupted by them.
 */
import { MonolithError } from '../base/errors.js';

const SPINS = 1000;
const SLICE_MS = 20;
const LIMIT_MS = 30_000;

/** Runs `body` while the lock at word `at` is held. `what` names it when its owner never lets go. */
export function withLock<T>(i32: Int32Array, at: number, what: string, body: () => T): T {
  take(i32, at, what);
  try {
    return body();
  } finally {
    if (Atomics.exchange(i32, at, 0) === 2) Atomics.notify(i32, at, 1);
  }
}

function take(i32: Int32Array, at: number, what: string): void {
  for (let spin = 0; spin < SPINS; spin++) if (Atomics.compareExchange(i32, at, 0, 1) === 0) return;
  const deadline = performance.now() + LIMIT_MS;
  while (Atomics.exchange(i32, at, 2) !== 0) {
    if (performance.now() > deadline) {
      throw new MonolithError(
        'ML_TIMEOUT',
        { what, timeoutMs: LIMIT_MS },
        { hint: 'a thread died while it held the lock; restart the session' },
      );
    }
    Atomics.wait(i32, at, 2, SLICE_MS);
  }
}
