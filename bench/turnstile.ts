/** @file Holds a training that runs all the time between the turns of a bench. */
import { MonolithError } from '../src/base/errors.js';
import type { TrainHook } from '../src/train/hooks/hook.js';

/** Lets a number of steps pass and tells when the last of them is done. */
export class Turnstile implements TrainHook {
  #allowed = 0;
  #issued = 0;
  #done = 0;
  #closed = false;
  #open: (() => void) | undefined;
  #finished: (() => void) | undefined;

  pass(steps: number): Promise<void> {
    this.#allowed += steps;
    return new Promise((resolve) => {
      this.#finished = resolve;
      this.#open?.();
    });
  }

  /** Undefined when a step may start at once. */
  enter(): Promise<void> | undefined {
    if (this.#closed) throw new MonolithError('ML_OUT_OF_RANGE', { source: 'bench' });
    if (this.#issued < this.#allowed) {
      this.#issued++;
      return undefined;
    }
    return new Promise<void>((resolve) => {
      this.#open = resolve;
    }).then(() => this.enter());
  }

  /** An input whose batches come when a step may start. */
  gate(next: () => number | Promise<number>): () => number | Promise<number> {
    return () => {
      const held = this.enter();
      return held === undefined ? next() : held.then(next);
    };
  }

  /** The input is what holds steps back. */
  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  afterRun(): void {
    if (++this.#done === this.#allowed) this.#finished?.();
  }

  close(): void {
    this.#closed = true;
    this.#open?.();
  }
}
