/**
 * @file A queue of one place between the steps of one graph: what a step puts in, a later step takes out.
 *
 * The place is made of variables that checkpoints leave out, one for each tensor, and two counters say whether there is
 * something in it. `enqueue` overwrites the place at the end of a step; `values` are what was there before the updates
 * of that step, so that a step may take out the element of the step before and put its own in.
 */
import { type Graph, misfit, type Op, type OpDef, type Tensor } from './graph.js';
import { localVariable } from './local-variable.js';
import { assign, group, increment } from './ops/state.js';

/** The value of a variable as it was before the updates of the step. */
export const Dequeue: OpDef<null> = {
  type: 'QueueDequeue',
  takesVariable: () => true,
  infer: ([place]) => [place!.spec],
};

/** What runs functions of a step with the next one: AsyncFunctionMgr of src/train. */
export interface AsyncFunctions {
  addAsyncFunction(
    target: (...args: Tensor[]) => readonly Op[],
    args: readonly Tensor[],
    kwargs?: Readonly<Record<string, unknown>>,
    isAsync?: boolean,
    queueName?: string,
  ): Op;
}

export class SlotQueue {
  readonly name: string;
  /** Puts the tensors in, in place of what was there. */
  readonly enqueue: Op;
  /** What is in it, in the order of the tensors. */
  readonly values: readonly Tensor[];
  readonly #taken: Tensor;
  readonly #put: Tensor;

  /** Tensors that have a row per example are refused: a place has the same size for every batch. */
  constructor(graph: Graph, name: string, tensors: readonly Tensor[]) {
    for (const tensor of tensors) {
      if (tensor.perExample)
        throw misfit(tensor, `the queue ${name} holds what all examples share: reduce it over the batch`);
      if (tensor.spec.dtype !== 'float32') throw misfit(tensor, `the queue ${name} holds floats`);
    }
    this.name = name;
    const places = tensors.map((tensor, index) => {
      const shape = tensor.spec.shape as readonly number[];
      return localVariable(graph, `${this.name}/place_${index}`, { dtype: 'float32', shape });
    });
    const counter = (what: string) => localVariable(graph, `${this.name}/${what}`, { dtype: 'int64', shape: [] });
    this.#put = counter('put');
    this.#taken = counter('taken');
    this.values = places.map((place) => graph.add(Dequeue, [place], null, `${this.name}/dequeue`).output);
    const puts = places.map((place, index) => assign(place, tensors[index]!, { name: `${this.name}/enqueue` }));
    this.enqueue = group(graph, [...puts, increment(this.#put) as Op], { name: `${this.name}/enqueue_all` }) as Op;
  }

  /** An op that runs `ops`, which use `values`, and counts the element as taken out. */
  take(graph: Graph, ops: readonly Op[]): Op {
    return group(graph, [...ops, increment(this.#taken) as Op], { name: `${this.name}/take` }) as Op;
  }

  /** Whether there is an element, where `read` gives the values of a variable by its name. */
  isFull(read: (name: string) => ArrayLike<number | bigint>): boolean {
    return read(this.#put.op.name)[0] !== read(this.#taken.op.name)[0];
  }
}
