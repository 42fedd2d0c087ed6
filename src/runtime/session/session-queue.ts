/**
 * @file A queue of a graph in a session: elements in slots of its memory, who waits for them, and who waits for room.
 *
 * A slot is free, being filled, waiting, or lent to whoever took it. There are as many as are in use at once.
 */
import { AsyncQueue } from '../../base/async-queue.js';
import type { TensorQueue } from '../../graph/tensor-queue.js';
import { QueueSlot } from './queue-slot.js';
import type { SessionCore } from './session-core.js';

export class SessionQueue {
  readonly queue: TensorQueue;
  readonly #core: SessionCore;
  readonly #waiting: AsyncQueue<QueueSlot>;
  readonly #free: QueueSlot[] = [];
  #taken = 0;
  readonly #names: { readonly depth: number; readonly room: number; readonly element: number };

  constructor(core: SessionCore, queue: TensorQueue, timeoutMs: number) {
    const { name, capacity } = queue;
    this.queue = queue;
    this.#core = core;
    this.#waiting = new AsyncQueue({ name, capacity, timeoutMs });
    const { names } = core.trace;
    this.#names = {
      depth: names.id(`elements in ${name}`),
      room: names.id(`wait for room in ${name}`, 'wait'),
      element: names.id(`wait for an element of ${name}`, 'wait'),
    };
  }

  /** Elements that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Elements that were taken out so far. */
  get taken(): number {
    return this.#taken;
  }

  /** Whether an element is on its way. */
  get isAwaited(): boolean {
    return this.#waiting.isAwaited;
  }

  /** Waits for room and holds it: `put` or `giveUp` comes next. */
  async reserve(): Promise<QueueSlot> {
    await this.#timed(this.#names.room, this.#waiting.reserve());
    return this.#free.pop() ?? new QueueSlot(this.#core, this.queue);
  }

  put(slot: QueueSlot): void {
    this.#waiting.fill(slot);
    this.#count();
  }

  giveUp(slot: QueueSlot): void {
    this.#free.push(slot);
    this.#waiting.giveUp();
  }

  /** The oldest element, lent until `give`; ML_OUT_OF_RANGE at the end of the input. */
  async take(): Promise<QueueSlot> {
    const slot = await this.#timed(this.#names.element, this.#waiting.take());
    this.#taken++;
    this.#count();
    return slot;
  }

  /** The oldest element of a queue that has some. */
  takeNow(): QueueSlot {
    const slot = this.#waiting.takeNow();
    this.#taken++;
    this.#count();
    return slot;
  }

  give(slot: QueueSlot): void {
    this.#free.push(slot);
  }

  /** No more elements are put: what waits can still be taken. Who waits for room goes on, unless `cancels`. */
  close(cancels = false): void {
    this.#waiting.close(cancels);
  }

  /** As `close`; whoever takes gets the error once the rest is out. */
  fail(error: unknown): void {
    this.#waiting.fail(error);
  }

  /** Ends all waiting. */
  cancel(): void {
    this.#free.push(...this.#waiting.cancel());
    this.#count();
  }

  #count(): void {
    const { main } = this.#core.trace;
    main?.counter(this.#names.depth, this.size, main.now());
    this.#core.variables.write(this.queue.size.op.name, BigInt64Array.of(BigInt(this.size)));
  }

  async #timed<T>(name: number, wait: Promise<T>): Promise<T> {
    const { main } = this.#core.trace;
    const start = main?.now() ?? 0;
    try {
      return await wait;
    } finally {
      main?.span(name, start, main.now());
    }
  }
}
