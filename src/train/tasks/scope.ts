/**
 * @file A value that holds for a call and for all that it awaits, and for nothing else.
 *
 * Contexts of the reference are process-wide, and the first one ever set stays. Here two tasks may be built or trained
 * at once in one process, and each sees its own.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export class Scope<T> {
  readonly #store = new AsyncLocalStorage<T>();

  /** The value of the innermost scope; undefined outside of any. */
  get(): T | undefined {
    return this.#store.getStore();
  }

  /** Runs `body` with `value`; afterwards it is what it was before, also when `body` throws. */
  with<R>(value: T, body: () => R): R {
    return this.#store.run(value, body);
  }
}
