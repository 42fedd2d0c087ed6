/** @file What the trainer is handed: the graph of a model in one mode, and the tensors it is known by. */
import type { Graph, Op, Tensor } from '../graph/graph.js';
import type { Mode } from '../graph/mode.js';
import type { ModelHead } from '../model/heads.js';

export interface ModelSpec {
  readonly name: string;
  readonly graph: Graph;
  /** The label of the first head, and its prediction per example: a probability, but for a regression. */
  readonly label: Tensor;
  readonly pred: Tensor;
  /** Mean loss of the batch; with several heads the weighted sum of theirs. */
  readonly loss: Tensor;
  /** One optimizer step. */
  readonly trainOp: Op;
  /** What it predicts, in order; absent where the graph was made without `defineModel`. */
  readonly heads?: readonly ModelHead[];
}

/** The model of a mode: without the step of one that evaluates, and without the loss of one that predicts. */
export type ModelIn<M extends Mode> = [M] extends ['train']
  ? ModelSpec
  : [M] extends ['train' | 'eval']
    ? Omit<ModelSpec, 'trainOp'> & Partial<ModelSpec>
    : Omit<ModelSpec, 'trainOp' | 'loss'> & Partial<ModelSpec>;
