/** @file A queue between what makes tensors and what uses them, in nested lists and dictionaries. */
import { MonolithError } from '../base/errors.js';
import { Op, Tensor } from '../graph/graph.js';
import { type LeafKinds, NestedTensors } from '../tensor/nested.js';
import { MultiFIFOQueue } from './fifo-queue.js';

/** Tensors of a graph, ragged ones and variables too, travel; everything else is kept. */
export const GRAPH_LEAVES: LeafKinds<Tensor, never> = {
  isTensor: (leaf): leaf is Tensor => leaf instanceof Tensor,
  isRagged: (_leaf): _leaf is never => false,
  isVariable: () => false,
  keeps: (leaf) => typeof leaf !== 'object' || leaf instanceof Op || ArrayBuffer.isView(leaf),
  raggedRank: () => 1,
  flatten: (ragged: never) => ragged,
  unflatten: (values) => values as never,
};

/** No graph has ragged tensors in parts. */
export function noRagged(): never {
  throw new MonolithError('ML_NESTED_RAGGED');
}

/**
 * The same structure around what comes out of a queue, and the queue; with `capacity` 0 the structure as it is, and no
 * queue. A run that uses any of it takes an element out, with all tensors of one batch; the queue's `enqueueOp` puts
 * one in, and an EnqueueHook runs it in the background.
 *
 * ```ts
 * const [batch, queue] = enqueueDictsWithQueueReturn({ x, ids, name: 'train' }, 2);
 * const loss = lossOf(batch.x, embeddingLookup(batch.ids, table));
 * const hooks = queue === null ? [] : [new EnqueueHook(queue, () => feeds)];
 * ```
 */
export function enqueueDictsWithQueueReturn<N>(
  tensors: N,
  capacity = 1,
  queueName = 'prefetch_queue',
): [nested: N, queue: MultiFIFOQueue | null] {
  if (capacity === 0) return [tensors, null];
  const nested = new NestedTensors<Tensor, never>(tensors, GRAPH_LEAVES);
  const queue = new MultiFIFOQueue(nested.getTensors(), capacity, queueName);
  return [nested.mapResult(queue.dequeue(), noRagged) as N, queue];
}
