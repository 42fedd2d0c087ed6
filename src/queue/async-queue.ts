/**
 * @file Bounded first-in-first-out queue inside one thread: who puts waits for room, who takes waits for an item.
 *
 * Closing it ends the input: takers get what is left and then ML_OUT_OF_RANGE, as OutOfRange of a queue upstream. A
 * failure of the producer reaches the taker in place of items that are not there.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';

export interface AsyncQueueOptions {
  /** Items that wait at the most. */
  readonly capacity: number;
  /** For messages. */
  readonly name: string;
  /** Longest wait for room or for an item. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 300_000;

/** A bounded queue between asynchronous producers and consumers. */
export class AsyncQueue<T> {
  readonly name: string;
  readonly capacity: number;
  readonly #timeoutMs: number;
  readonly #items: T[] = [];
  readonly #waiting = new Set<() => void>();
  #closed = false;
  #failure: unknown;

  constructor(options: AsyncQueueOptions) {
    checkOptions('AsyncQueue', options, ['capacity', 'name', 'timeoutMs']);
    const { capacity, name, timeoutMs = TIMEOUT_MS } = options;
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new MonolithError('ML_FLAG', { flag: 'capacity', reason: `${capacity} is not a number of elements` });
    }
    this.capacity = capacity;
    this.name = name;
    this.#timeoutMs = timeoutMs;
  }

  get size(): number {
    return this.#items.length;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Waits until an item can be put. */
  async room(): Promise<void> {
    const endMs = performance.now() + this.#timeoutMs;
    while (!this.#closed && this.#items.length >= this.capacity) await this.#change(endMs, 'room in');
    if (this.#closed) throw new MonolithError('ML_CLOSED', { what: `the queue ${this.name}` });
  }

  async put(item: T): Promise<void> {
    await this.room();
    this.#items.push(item);
    this.#wake();
  }

  /** The oldest item. */
  async take(): Promise<T> {
    const endMs = performance.now() + this.#timeoutMs;
    while (!this.#closed && this.#items.length === 0) await this.#change(endMs, 'an element of');
    if (this.#items.length > 0) {
      const item = this.#items.shift()!;
      this.#wake();
      return item;
    }
    if (this.#failure !== undefined) throw this.#failure;
    throw new MonolithError('ML_OUT_OF_RANGE', { source: `the queue ${this.name}` });
  }

  /** No more items are put. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** No more items are put, because of an error that takers get once the queue is empty. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.close();
  }

  /** Closes the queue and hands back what nobody takes any more. */
  cancel(): T[] {
    const rest = this.#items.splice(0);
    this.close();
    return rest;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  async #change(endMs: number, what: string): Promise<void> {
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) {
      throw new MonolithError('ML_TIMEOUT', { what: `${what} the queue ${this.name}`, timeoutMs: this.#timeoutMs });
    }
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      timer = setTimeout(() => {
        this.#waiting.delete(resolve);
        resolve();
      }, leftMs);
    });
    clearTimeout(timer);
  }
}
