/**
 * @file Fills a queue in the background from the moment the session is there. Mirrors EnqueueHook of prefetch_queue.
 */
import { enqueueAll } from '../../queue/prefetch.js';
import type { PrefetchQueue } from '../../queue/prefetch-queue.js';
import type { Session } from '../../runtime/session/session.js';
import type { TrainHook } from './hook.js';

/** Fills a queue in the background for as long as the session lives. */
export class EnqueueHook<N> implements TrainHook {
  readonly #queue: PrefetchQueue<N>;
  readonly #source: (session: Session) => AsyncIterable<N> | Iterable<N>;
  #filling: Promise<void> = Promise.resolve();

  /** The end of the source closes the queue; a failure of it reaches whoever dequeues. */
  constructor(queue: PrefetchQueue<N>, source: (session: Session) => AsyncIterable<N> | Iterable<N>) {
    this.#queue = queue;
    this.#source = source;
  }

  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  afterCreateSession(session: Session): void {
    this.#filling = enqueueAll(this.#queue, this.#source(session));
  }

  /** Stops the source; what waits in the queue is dropped. */
  async end(): Promise<void> {
    this.#queue.close();
    await this.#filling;
    this.#queue.destroy();
  }
}
