/** @file What a model function hands to the trainer: the graph and the tensors it is known by. */
import type { Graph, Op, Tensor } from '../graph/graph.js';

export interface ModelSpec {
  readonly name: string;
  readonly graph: Graph;
  readonly label: Tensor;
  /** Probability per example. */
  readonly pred: Tensor;
  /** Mean loss of the batch. */
  readonly loss: Tensor;
  /** One optimizer step. */
  readonly trainOp: Op;
}
