/**
 * @file Runs a source ahead of whoever uses it: a producer fills a queue in the background.
 *
 * Mirrors enqueue_dicts_with_queue_return and EnqueueHook of native_training/prefetch_queue. With capacity c an element
 * is made up to c + 1 steps before its use.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { type DequeueOptions, PrefetchQueue, type PrefetchQueueOptions } from './prefetch-queue.js';

/** Enqueues all of `source`. The end of it closes the queue; a failure of it reaches whoever dequeues. */
export async function enqueueAll<N>(queue: PrefetchQueue<N>, source: AsyncIterable<N> | Iterable<N>): Promise<void> {
  try {
    for await (const element of source) await queue.enqueue(element);
    queue.close();
  } catch (thrown) {
    queue.fail(thrown);
  }
}

/**
 * The elements of `source`, up to `capacity` of them made ahead; with 0, `source` as it is. Leaving the loop early
 * drops what waits and ends the source, once it has made the element it is at.
 *
 * ```ts
 * const batches = prefetch(readBatches(), { capacity: 2, driver, place: 'gpu', stream });
 * for await (const { ids, labels } of batches) train(ids, labels);
 * ```
 */
export async function* prefetch<N>(
  source: AsyncIterable<N> | Iterable<N>,
  options: PrefetchQueueOptions & DequeueOptions = {},
): AsyncGenerator<N, void, undefined> {
  checkOptions('prefetch', options, ['capacity', 'name', 'driver', 'place', 'timeoutMs', 'stream', 'to']);
  const { stream, to, ...ofQueue } = options;
  if (options.capacity === 0) {
    yield* source;
    return;
  }
  const queue = new PrefetchQueue<N>(ofQueue);
  const done = enqueueAll(queue, source);
  try {
    for (;;) {
      const element = await next(queue, { ...(stream && { stream }), ...(to && { to }) });
      if (element === undefined) return;
      yield element.value;
    }
  } finally {
    queue.close();
    await done;
    queue.destroy();
  }
}

/** The next element, in a box; nothing at the end of the input. */
async function next<N>(queue: PrefetchQueue<N>, options: DequeueOptions): Promise<{ readonly value: N } | undefined> {
  try {
    return { value: await queue.dequeue(options) };
  } catch (thrown) {
    if (thrown instanceof MonolithError && thrown.code === 'ML_OUT_OF_RANGE') return undefined;
    throw thrown;
  }
}
