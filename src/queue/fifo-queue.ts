/**
 * @file Queues of a graph by the names of native_training/prefetch_queue: elements are lists of tensors.
 *
 * Upstream's queue of tensors on several devices is a queue for each; so it is here, and a run that puts an element
 * puts all of it or nothing.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { type Graph, type Op, Tensor, type TensorSpec } from '../graph/graph.js';
import { group } from '../graph/ops/state.js';
import { componentOf, TensorQueue } from '../graph/tensor-queue.js';

const NAME = 'prefetch_queue';
const CAPACITY = 2;

export interface PaddingQueueOptions {
  readonly capacity: number;
  readonly dtypes: readonly TensorSpec['dtype'][];
  readonly shapes: readonly TensorSpec['shape'][];
  /** Default: `padding_fifo_queue`. */
  readonly name?: string;
}

/** A queue of a graph for elements of these dtypes and shapes; `'batch'` stands for the examples of a batch. */
export class GPUCompatiblePaddingFIFOQueue {
  readonly queue: TensorQueue;

  constructor(graph: Graph, options: PaddingQueueOptions) {
    checkOptions('GPUCompatiblePaddingFIFOQueue', options, ['capacity', 'dtypes', 'shapes', 'name']);
    const { capacity, dtypes, shapes, name = 'padding_fifo_queue' } = options;
    if (dtypes.length !== shapes.length) {
      throw new MonolithError('ML_QUEUE_SHAPES', { dtypes: dtypes.length, shapes: shapes.length });
    }
    const components = dtypes.map((dtype, index) => ({ spec: { dtype, shape: shapes[index]! } }));
    this.queue = new TensorQueue(graph, components, { name, capacity });
  }

  get name(): string {
    return this.queue.name;
  }

  /** The op that puts an element in. */
  enqueue(tensors: Tensor | readonly Tensor[]): Op {
    return this.queue.enqueue(tensors instanceof Tensor ? [tensors] : tensors);
  }

  /** The element that a run takes: a tensor, or a list where it has several. */
  dequeue(): Tensor | readonly Tensor[] {
    const { values } = this.queue;
    return values.length === 1 ? values[0]! : values;
  }

  /** How many elements wait. */
  size(): Tensor {
    return this.queue.size;
  }

  enqueueMany(): never {
    throw new MonolithError('ML_QUEUE_MANY');
  }

  dequeueMany(): never {
    throw new MonolithError('ML_QUEUE_MANY');
  }
}

/** What an EnqueueHook fills: queues, and the op that puts an element into all of them. */
export interface EnqueuedQueue {
  readonly queues: readonly TensorQueue[];
  readonly enqueueOp: Op;
}

/** A queue whose elements are `denseList`. */
export class FIFOQueue implements EnqueuedQueue {
  readonly queue: TensorQueue;
  readonly enqueueOp: Op;

  constructor(denseList: readonly Tensor[] | null, capacity: number = CAPACITY, queueName: string = NAME) {
    const list = checkList(denseList);
    this.queue = new TensorQueue(list[0]!.graph, list.map(componentOf), { name: queueName, capacity });
    this.enqueueOp = this.queue.enqueue(list);
  }

  get queues(): readonly TensorQueue[] {
    return [this.queue];
  }

  /** The element that a run takes. */
  dequeue(): readonly Tensor[] {
    return this.queue.values;
  }
}

/** As FIFOQueue, with a queue for the tensors on a GPU. */
export class MultiFIFOQueue implements EnqueuedQueue {
  readonly enqueueOp: Op;
  readonly #queues: readonly FIFOQueue[];
  /** The queue of each tensor, and which one of it the tensor is. */
  readonly #places: readonly (readonly [queue: number, index: number])[];

  constructor(denseList: readonly Tensor[] | null, capacity: number = CAPACITY, queueName: string = NAME) {
    const list = checkList(denseList);
    const byDevice: [queueName: string, tensors: Tensor[]][] = [
      [queueName, list.filter((tensor) => !isOnGpu(tensor))],
      [`${queueName}_gpu`, list.filter(isOnGpu)],
    ];
    const kinds = byDevice.filter(([, tensors]) => tensors.length > 0);
    this.#queues = kinds.map(([name, tensors]) => new FIFOQueue(tensors, capacity, name));
    this.#places = list.map((tensor) => {
      const queue = kinds.findIndex(([, tensors]) => tensors.includes(tensor));
      return [queue, kinds[queue]![1].indexOf(tensor)];
    });
    const ops = this.#queues.map(({ enqueueOp }) => enqueueOp);
    this.enqueueOp = ops.length === 1 ? ops[0]! : (group(list[0]!.graph, ops) as Op);
  }

  get queue(): TensorQueue {
    if (this.#queues.length === 1) return this.#queues[0]!.queue;
    const advice = 'Check if a tensor to be enqueued is mistakenly placed on GPU.';
    throw new MonolithError('ML_QUEUE_DEVICES', { advice });
  }

  get queues(): readonly TensorQueue[] {
    return this.#queues.map(({ queue }) => queue);
  }

  /** The element that a run takes, from whatever queues it is in, in the order it was given. */
  dequeue(): readonly Tensor[] {
    return this.#places.map(([queue, index]) => this.#queues[queue]!.dequeue()[index]!);
  }

  /** How many elements wait: the queues are filled and emptied together. */
  size(): Tensor {
    return this.queues[0]!.size;
  }
}

function isOnGpu({ op }: Tensor): boolean {
  return op.device.includes('GPU');
}

function checkList(denseList: readonly Tensor[] | null | undefined): readonly Tensor[] {
  if (denseList === null || denseList === undefined) throw new MonolithError('ML_QUEUE_EMPTY');
  const isList = Array.isArray(denseList) && denseList.every((tensor) => tensor instanceof Tensor);
  if (!isList) throw new MonolithError('ML_QUEUE_LIST');
  if (denseList.length === 0) throw new MonolithError('ML_QUEUE_EMPTY');
  return denseList;
}
