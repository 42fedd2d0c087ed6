/**
 * @file Waits for a word of shared memory to change without blocking the thread.
 *
 * For the main thread, which must stay free for the event loop, and for threads that answer messages while they wait.
 */

/**
 * Longer limits are waited out in parts: a wait that is over early stays in the engine's memory until its limit passes,
 * and many short waits with long limits would add up.
 */
export const WAIT_MS_MAX = 1000;
const POLL_MS_MAX = 16;

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Looks at the word again and again, as on engines without `Atomics.waitAsync`. */
  readonly polling?: boolean | undefined;
}

/**
 * Settles when `words[index]` is notified or no longer `value`, when the time is over or when the signal aborts: the
 * caller looks again in every case, so it is not told which.
 */
export function waitForChange(words: Int32Array, index: number, value: number, options: WaitOptions): Promise<void> {
  const timeoutMs = Math.min(Math.max(options.timeoutMs, 0), WAIT_MS_MAX);
  const { signal } = options;
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout;
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    signal?.addEventListener('abort', done);
    if (options.polling === true || typeof Atomics.waitAsync !== 'function') {
      const endMs = performance.now() + timeoutMs;
      let delayMs = 0;
      const look = (): void => {
        const over = Atomics.load(words, index) !== value || performance.now() >= endMs;
        timer = setTimeout(over ? done : look, delayMs);
        delayMs = Math.min(Math.max(delayMs * 2, 1), POLL_MS_MAX);
      };
      look();
      return;
    }
    // The timer also keeps the event loop alive: a pending waitAsync alone does not.
    timer = setTimeout(done, timeoutMs);
    const waiting = Atomics.waitAsync(words, index, value, timeoutMs);
    if (waiting.async) waiting.value.then(done);
    else done();
  });
}
