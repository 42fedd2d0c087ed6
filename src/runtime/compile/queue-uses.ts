/** @file What a program does with queues of its graph, and how their elements are fed. */
import type { Graph, Op, OpDef, Tensor } from '../../graph/graph.js';
import { CloseQueue, Dequeue, Enqueue, QUEUES, type TensorQueue } from '../../graph/tensor-queue.js';
import type { FeedSpec } from '../../memory/batch.js';

export interface QueueUses {
  /** Queues that an element is taken out of. */
  readonly takes: readonly TensorQueue[];
  readonly puts: readonly { readonly queue: TensorQueue; readonly tensors: readonly Tensor[] }[];
  readonly closes: readonly { readonly queue: TensorQueue; readonly cancels: boolean }[];
}

/** Undefined when it has nothing to do with any. */
export function queueUsesOf(ops: readonly Op[]): QueueUses | undefined {
  const queues = ops[0]?.graph.getCollection(QUEUES) ?? [];
  if (queues.length === 0) return undefined;
  const used = new Set(ops);
  const takes = queues.filter(({ values }) => values.some(({ op }) => used.has(op)));
  // Everybody goes from queue to queue in the same order: nobody waits for one who waits for him.
  const puts = ops
    .filter(isOf(Enqueue))
    .map(({ attrs, inputs }) => ({ queue: attrs.queue, tensors: inputs }))
    .sort((a, b) => queues.indexOf(a.queue) - queues.indexOf(b.queue));
  const closes = ops.filter(isOf(CloseQueue)).map(({ attrs }) => attrs);
  return takes.length + puts.length + closes.length === 0 ? undefined : { takes, puts, closes };
}

const isOf =
  <A>(def: OpDef<A>) =>
  (op: Op): op is Op<A> & Op =>
    op.def === (def as OpDef<unknown>);

/** Feeds that batches taken out of queues have beside those of the input. */
export function queueFeeds(graph: Graph): FeedSpec[] {
  const fed = graph.getCollection(QUEUES).flatMap(({ values }) => values.filter(({ op }) => isOf(Dequeue)(op)));
  return fed.map(({ op: { name }, spec, columns: width }) => {
    if (spec.ragged) return { name, kind: 'ragged' };
    return { name, kind: spec.dtype === 'int64' ? 'ids' : 'dense', width };
  });
}
