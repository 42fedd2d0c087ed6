/** @file Runs of a session one after the other, in the order they were asked for. */
import { MonolithError } from '../../base/errors.js';

export class Turns {
  #tail: Promise<unknown> = Promise.resolve();
  #asked = 0;
  #closed = false;
  readonly #ended = (): void => {
    this.#asked--;
  };

  /** Whether nothing that was asked for is still to end. */
  get isIdle(): boolean {
    return this.#asked === 0;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Runs `body` after what was asked for before. */
  take<T>(body: () => Promise<T>): Promise<T> {
    this.#asked++;
    const result = this.#tail.then(() => {
      if (this.#closed) throw new MonolithError('ML_CLOSED', { what: 'the session' });
      return body();
    });
    this.#tail = result.then(this.#ended, this.#ended);
    return result;
  }

  /** Nothing begins any more; waits for what runs. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#tail;
  }
}
