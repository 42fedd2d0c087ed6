/**
 * @file Time and chance as something that is handed in: whoever waits or draws takes a clock or a source of integers,
 * and a test gives it one that waits for nothing.
 */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Ends after `ms`, or as soon as `signal` is aborted; it never fails. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface RandomIntegers {
  /** An integer from `low` to `high`, both included. */
  nextInt(low: number, high: number): number;
}

/** A longer timer would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The clock of this machine, and its timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep(ms, signal) {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, TIMER_MS_MAX));
      signal?.addEventListener('abort', done, { once: true });
    });
  },
};

/** Random numbers of this process. */
export const systemRandom: RandomIntegers = {
  nextInt: (low, high) => low + Math.floor(Math.random() * (high - low + 1)),
};
