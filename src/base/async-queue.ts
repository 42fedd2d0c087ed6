/**
 * @file Bounded first-in-first-out queue inside one thread: who puts waits for room, who takes waits for an item.
 *
 * Closing it ends the input: takers get what is left and then ML_OUT_OF_RANGE, as OutOfRange of a queue upstream. A
 * failure of the producer reaches the taker in place of items that are not there.
 */
import { checkOptions } from './check-options.js';
import { MonolithError } from './errors.js';

export interface AsyncQueueOptions {
  /** Items that wait at the most. */
  readonly capacity: number;
  /** For messages. */
  readonly name: string;
  /** Longest wait for room or for an item. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 300_000;

/** Who waits, until it is its turn or for so long. */
interface Waiter<V> {
  settle(value: V): void;
  fail(error: unknown): void;
}

/** A bounded queue between asynchronous producers and consumers. Who came first is served first. */
export class AsyncQueue<T> {
  readonly name: string;
  readonly capacity: number;
  readonly #timeoutMs: number;
  readonly #items: T[] = [];
  readonly #putters = new Set<Waiter<void>>();
  readonly #takers = new Set<Waiter<T>>();
  /** Places that are held for items to come. */
  #held = 0;
  #closed = false;
  #cancelled = false;
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

  /** Items that nobody waits for. */
  get size(): number {
    return this.#items.length;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Waits for room and holds a place for an item: `fill` or `giveUp` comes next. */
  async reserve(): Promise<void> {
    if (this.#closed) throw this.#ended();
    await this.#wait(this.#putters, 'room in');
  }

  /** Puts an item into the place that is held for it. */
  fill(item: T): void {
    this.#held--;
    this.#items.push(item);
    this.#settle();
  }

  /** Lets go of the place. */
  giveUp(): void {
    this.#held--;
    this.#settle();
  }

  async put(item: T): Promise<void> {
    await this.reserve();
    this.fill(item);
  }

  /** The oldest item. */
  take(): Promise<T> {
    return this.#wait(this.#takers, 'an element of');
  }

  /** The oldest item of a queue that has some. */
  takeNow(): T {
    const item = this.#items.shift()!;
    this.#settle();
    return item;
  }

  /** Whether an item is on its way: somebody has a place for it, or waits for one. */
  get isAwaited(): boolean {
    return this.#putters.size + this.#held > 0;
  }

  /** No more items are put. Who waits for room gets ML_CLOSED, or goes on to put with `cancels` false. */
  close(cancels = true): void {
    this.#closed = true;
    this.#cancelled ||= cancels;
    this.#settle();
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

  #ended(): MonolithError {
    return new MonolithError('ML_CLOSED', { what: `the queue ${this.name}` });
  }

  /** Serves whoever can be. */
  #settle(): void {
    for (const taker of this.#takers) {
      if (this.#items.length === 0) break;
      taker.settle(this.#items.shift()!);
    }
    for (const putter of this.#putters) {
      if (this.#cancelled) putter.fail(this.#ended());
      else if (this.#items.length + this.#held >= this.capacity) break;
      else {
        this.#held++;
        putter.settle();
      }
    }
    const isOver = this.#cancelled || (this.#closed && !this.isAwaited);
    if (!isOver) return;
    const end = this.#failure ?? new MonolithError('ML_OUT_OF_RANGE', { source: `the queue ${this.name}` });
    for (const taker of this.#takers) taker.fail(end);
  }

  #wait<V>(line: Set<Waiter<V>>, what: string): Promise<V> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        line.delete(waiter);
      };
      const waiter: Waiter<V> = {
        settle(value) {
          leave();
          resolve(value);
        },
        fail(error) {
          leave();
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        const fields = { what: `${what} the queue ${this.name}`, timeoutMs: this.#timeoutMs };
        waiter.fail(new MonolithError('ML_TIMEOUT', fields));
      }, this.#timeoutMs);
      line.add(waiter);
      this.#settle();
    });
  }
}
