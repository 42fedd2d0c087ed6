/**
 * @file Fills a queue in the background from the moment the session is there. Mirrors EnqueueHook of prefetch_queue.
 */
import { checkPositioned } from '../../base/input-state.js';
import type { EnqueuedQueue } from '../../queue/fifo-queue.js';
import { enqueueAll } from '../../queue/prefetch.js';
import { PrefetchQueue } from '../../queue/prefetch-queue.js';
import type { Session } from '../../runtime/session/session.js';
import type { Coordinator } from './coordinator.js';
import type { TrainHook } from './hook.js';
import { type FeedSource, MultiQueueRunner } from './multi-queue-runner.js';
import { SourcePosition } from './source-position.js';

type Source<N> = (session: Session) => AsyncIterable<N> | Iterable<N>;

/**
 * Fills a queue in the background for as long as the session lives.
 *
 * ```ts
 * const [batch, queue] = enqueueDictsWithQueueReturn({ x, label });
 * const hook = new EnqueueHook(queue, () => [{ x: [1], label: [0] }]);
 * ```
 */
export class EnqueueHook<N = unknown> implements TrainHook {
  readonly #queue: PrefetchQueue<N> | EnqueuedQueue;
  readonly #source: Source<unknown> | undefined;
  #filling: Promise<unknown> = Promise.resolve();

  /**
   * Of a queue of the graph, `source` has what each run of its enqueue op is fed; without one, runs go on until the op
   * meets the end of its own input. Of another queue it has the elements. The end of the source closes the queue; a
   * failure of it reaches whoever takes from it. A source of a queue of the graph that has `saveState` and
   * `restoreState` goes on where a restored run left off: checkpoints keep its place, without what waits in the queue.
   */
  constructor(queue: EnqueuedQueue, source?: (session: Session) => FeedSource);
  constructor(queue: PrefetchQueue<N>, source: Source<N>);
  constructor(queue: PrefetchQueue<N> | EnqueuedQueue, source?: Source<unknown>) {
    this.#queue = queue;
    this.#source = source;
  }

  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  async afterCreateSession(session: Session, coordinator: Coordinator): Promise<void> {
    const queue = this.#queue;
    const source = this.#source?.(session);
    if (queue instanceof PrefetchQueue) this.#filling = enqueueAll(queue, source as AsyncIterable<N>);
    else {
      const feeds = source && (await elementsOf(session, queue, source as FeedSource));
      const runner = new MultiQueueRunner(queue.queues, [queue.enqueueOp]);
      this.#filling = Promise.all(runner.createThreads(session, coordinator, feeds));
    }
  }

  /** Stops the source; what waits in the queue is dropped. */
  async end(): Promise<void> {
    const queue = this.#queue;
    if (queue instanceof PrefetchQueue) queue.close();
    await this.#filling;
    if (queue instanceof PrefetchQueue) queue.destroy();
  }
}

/** What the source has, from where it is to go on. */
async function elementsOf(session: Session, { queues }: EnqueuedQueue, source: FeedSource): Promise<FeedSource> {
  if (!checkPositioned('the source of an EnqueueHook', source)) return source;
  return (await SourcePosition.take(session, queues[0]!, source)).elements;
}
