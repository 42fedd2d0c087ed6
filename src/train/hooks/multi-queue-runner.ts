/**
 * @file Fills queues of a graph in the background, by running the ops that do. Mirrors MultiQueueRunner of
 * native_training/prefetch_queue and the queue runners of TensorFlow.
 */
import { MonolithError } from '../../base/errors.js';
import type { Positioned } from '../../base/input-state.js';
import type { Op } from '../../graph/graph.js';
import type { TensorQueue } from '../../graph/tensor-queue.js';
import type { Feeds, Session } from '../../runtime/session/session.js';
import type { Coordinator } from './coordinator.js';

/** What each run of an enqueue op is fed, in order; checkpoints keep the place of a source that can tell it. */
export type FeedSource = (AsyncIterable<Feeds> | Iterable<Feeds>) & Positioned;

/**
 * Runs enqueue ops in the background, and closes their queues at the end; an EnqueueHook has one.
 *
 * ```ts
 * const runner = new MultiQueueRunner(queue.queues, [queue.enqueueOp]);
 * ```
 */
export class MultiQueueRunner {
  readonly #queues: TensorQueue | readonly TensorQueue[];
  readonly #enqueueOps: readonly Op[];

  /** Several queues are closed together. */
  constructor(queue: TensorQueue | readonly TensorQueue[], enqueueOps: readonly Op[]) {
    this.#queues = queue;
    this.#enqueueOps = enqueueOps;
  }

  get name(): string {
    return this.#all[0]!.name;
  }

  get queue(): TensorQueue {
    if (Array.isArray(this.#queues)) throw new MonolithError('ML_QUEUE_DEVICES', { advice: '' });
    return this.#queues as TensorQueue;
  }

  get #all(): readonly TensorQueue[] {
    return [this.#queues].flat() as readonly TensorQueue[];
  }

  /** Ends the input: what waits can still be taken. */
  close(session: Session): void {
    for (const queue of this.#all) session.queue(queue).close();
  }

  /** As `close`; who waits for room gets ML_CLOSED. */
  cancel(session: Session): void {
    for (const queue of this.#all) session.queue(queue).close(true);
  }

  /**
   * Runs the ops until the feeds of `source` end, or the session stops; without feeds until an op finds the end of its
   * own input. The end closes the queues; an error reaches whoever takes from them.
   */
  createThreads(session: Session, coordinator: Coordinator, source?: FeedSource): Promise<void>[] {
    const tasks = this.#enqueueOps.map((op) => this.#fill(session, op, source, coordinator));
    const stopped = () => this.cancel(session);
    coordinator.signal.addEventListener('abort', stopped, { once: true });
    for (const task of tasks) coordinator.register(task);
    return tasks;
  }

  async #fill(session: Session, op: Op, source: FeedSource | undefined, coordinator: Coordinator): Promise<void> {
    try {
      const all: AsyncIterable<Feeds | undefined> | Iterable<Feeds | undefined> = source ?? always();
      for await (const feeds of untilStop(all, coordinator.signal)) await session.run([op], feeds);
      this.close(session);
    } catch (error) {
      if (isEnd(error, 'ML_OUT_OF_RANGE')) this.close(session);
      // Others waited for room when everything stopped.
      else if (!isEnd(error, 'ML_CLOSED')) for (const queue of this.#all) session.queue(queue).fail(error);
    }
  }
}

const isEnd = (error: unknown, code: string) => error instanceof MonolithError && error.code === code;

/** What `source` gives until the signal; then its end is asked for and not waited for. */
async function* untilStop<T>(source: AsyncIterable<T> | Iterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = iteratorOf(source);
  const stopped = new Promise<{ done: true; value: undefined }>((resolve) => {
    const stop = () => resolve({ done: true, value: undefined });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  for (;;) {
    const next = Promise.resolve(iterator.next());
    next.catch(() => undefined); // After a stop nobody awaits it.
    const { done, value } = await Promise.race([stopped, next]);
    if (done) break;
    yield value as T;
  }
  if (signal.aborted) Promise.resolve(iterator.return?.()).catch(() => undefined);
}

export function iteratorOf<T>(source: AsyncIterable<T> | Iterable<T>): AsyncIterator<T> | Iterator<T> {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
}

function* always(): Generator<undefined> {
  for (;;) yield undefined;
}
