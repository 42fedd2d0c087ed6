/**
 * @file A bounded queue of tensors in a graph: one run puts an element in, a later one takes it out.
 *
 * Mirrors tf.queue.PaddingFIFOQueue as far as native_training/prefetch_queue uses it. What is put in is computed by the
 * run that puts it; what is taken out is a feed of the run that uses it. Elements wait in the memory of the session,
 * which makes runs wait for room and for elements: src/runtime/session/session-queue.ts.
 */
import { MonolithError } from '../base/errors.js';
import {
  type Graph,
  misfit,
  type Op,
  type OpDef,
  sameShape,
  shapeText,
  type Tensor,
  type TensorSpec,
} from './graph.js';
import { localVariable } from './local-variable.js';
import { batchSum } from './ops/batch-sum.js';
import { nameOf, type OpOptions } from './ops/options.js';
import { Placeholder, type PlaceholderAttrs, type VariableAttrs } from './ops/state.js';

/** Collection of the queues of a graph. */
export const QUEUES = 'queues';

declare module './graph.js' {
  interface Collections {
    readonly queues: TensorQueue;
  }
}

export interface QueueAttrs {
  readonly queue: TensorQueue;
}

/** Inputs: the tensors of an element. */
export const Enqueue: OpDef<QueueAttrs> = { type: 'QueueEnqueueV2', takesVariable: () => true, infer: () => [] };

/** Ends the input of a queue when the run that has it is done. */
export const CloseQueue: OpDef<QueueAttrs & { readonly cancels: boolean }> = { type: 'QueueCloseV2', infer: () => [] };

/** A part of an element that has a row for each example: a feed of whoever uses it. */
export const Dequeue: OpDef<PlaceholderAttrs & QueueAttrs> = {
  type: 'QueueDequeueV2',
  infer: (inputs, attrs) => Placeholder.infer(inputs, attrs),
};

/** What an element has in one place. */
export interface QueueComponent {
  readonly spec: TensorSpec;
  /** Of ragged ones. */
  readonly valuesPerRow?: number;
  /** Of ragged ones whose rows may have more. */
  readonly rowMax?: number | undefined;
}

export interface TensorQueueOptions {
  readonly name: string;
  /** Elements that can wait. */
  readonly capacity: number;
}

export class TensorQueue {
  readonly graph: Graph;
  readonly name: string;
  readonly capacity: number;
  readonly components: readonly QueueComponent[];
  /** The element that a run takes out: all runs that use one of them take one. */
  readonly values: readonly Tensor[];
  /** How many wait, between runs. */
  readonly size: Tensor;

  constructor(graph: Graph, components: readonly QueueComponent[], { name, capacity }: TensorQueueOptions) {
    if (components.length === 0) throw new MonolithError('ML_QUEUE_EMPTY');
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new MonolithError('ML_FLAG', { flag: 'capacity', reason: `${capacity} is not a number of elements` });
    }
    this.graph = graph;
    this.capacity = capacity;
    this.components = components;
    this.size = localVariable(graph, `${name}/size`, { dtype: 'int64', shape: [] });
    this.name = this.size.op.name.replace(/\/size(?=(_\d+)?$)/, '');
    this.values = components.map((component, index) => this.#value(component, `${this.name}/dequeue_${index}`));
    graph.addToCollection(QUEUES, this);
  }

  /** A place for what all examples share, a feed for what has rows. */
  #value({ spec, valuesPerRow = 1, rowMax }: QueueComponent, name: string): Tensor {
    if (spec.shape[0] !== 'batch') return localVariable(this.graph, name, spec as VariableAttrs);
    return this.graph.initScope(() => {
      return this.graph.add(Dequeue, [], { spec, valuesPerRow, rowMax, queue: this }, name).output;
    });
  }

  /** An op that puts an element in, when there is room for it. */
  enqueue(tensors: readonly Tensor[], options: OpOptions = {}): Op {
    const given = tensors.map(whole);
    const misfits = given.length !== this.components.length || given.some((tensor, i) => !this.#fits(tensor, i));
    if (misfits) {
      const text = (specs: readonly TensorSpec[]) => specs.map(specText).join(', ');
      const wanted = text(this.components.map(({ spec }) => spec));
      const reason = `it has tensors of ${wanted}, and ${text(given.map(({ spec }) => spec)) || 'none'} came`;
      throw new MonolithError('ML_QUEUE_ELEMENT', { queue: this.name, reason }, { hint: 'use a queue for each kind' });
    }
    const name = nameOf('enqueue', options, `${this.name}/enqueue`);
    return this.graph.add(Enqueue, given, { queue: this }, name) as Op;
  }

  #fits({ spec }: Tensor, index: number): boolean {
    const wanted = this.components[index]!.spec;
    const alike = spec.dtype === wanted.dtype && (spec.ragged ?? false) === (wanted.ragged ?? false);
    return alike && sameShape(spec.shape, wanted.shape);
  }

  /**
   * An op that ends the input: what waits can still be taken. Runs that wait for room go on, unless `cancels`.
   */
  close(options: { readonly cancelPendingEnqueues?: boolean } = {}): Op {
    const { cancelPendingEnqueues: cancels = false } = options;
    return this.graph.add(CloseQueue, [], { queue: this, cancels }, `${this.name}/close`) as Op;
  }
}

/** What `tensor` is in a queue. */
export function componentOf(tensor: Tensor): QueueComponent {
  const { dtype, shape, ragged } = tensor.spec;
  if (!ragged) return { spec: { dtype, shape } };
  const { valuesPerRow, rowMax } = tensor.op.attrs as Partial<PlaceholderAttrs>;
  if (valuesPerRow === undefined) throw misfit(tensor, 'ragged tensors of a queue are fed');
  return { spec: { dtype, shape, ragged }, valuesPerRow, rowMax };
}

/** A sum over the batch is in parts: the element has the sum. */
function whole(tensor: Tensor): Tensor {
  return tensor.spec.partial ? batchSum(tensor) : tensor;
}

function specText({ dtype, shape, ragged }: TensorSpec): string {
  return `${ragged ? 'ragged ' : ''}${dtype} ${shapeText(shape)}`;
}
