/**
 * @file A clock that stands still but for sleeps, which are over at once, and a source of integers that gives what it
 * is told.
 */
import type { Clock, RandomIntegers } from '../../src/base/clock.js';

export class FakeClock implements Clock {
  readonly sleeps: number[] = [];
  #nowMs: number;
  readonly #onSleep: (nowMs: number) => void;

  /** `onSleep` is told the time at the end of each sleep. */
  constructor(nowMs = 0, onSleep: (nowMs: number) => void = () => {}) {
    this.#nowMs = nowMs;
    this.#onSleep = onSleep;
  }

  now(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    this.sleeps.push(ms);
    this.#nowMs += ms;
    this.#onSleep(this.#nowMs);
    // Others get their turn, as in a real sleep.
    await new Promise(setImmediate);
  }
}

export const fixedIntegers = (value: number): RandomIntegers => ({ nextInt: () => value });
