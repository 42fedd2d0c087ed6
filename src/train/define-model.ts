/** @file A model from a schema: the function that builds its graph, held to the features and the label it declared. */

import type { Features, Inputs, LabelName, Schema } from '../data/schema.js';
import { Graph, type Op, type Tensor } from '../graph/graph.js';
import type { ModelSpec } from './model-spec.js';

export interface ModelOptions<F extends Features> {
  /** Checkpoints are refused by a model of another name. */
  readonly name: string;
  /** The feature that is the label: one float for each example. */
  readonly label: LabelName<F>;
}

/** What the model function must return. */
export interface ModelOutputs {
  /** Mean loss of the batch. */
  readonly loss: Tensor;
  /** Probability per example. */
  readonly pred: Tensor;
  /** One optimizer step. */
  readonly trainOp: Op;
}

export type ModelFunction<F extends Features> = (inputs: Inputs<F>, graph: Graph) => ModelOutputs;

/**
 * Builds the graph of a model.
 *
 * ```ts
 * const model = defineModel(schema, { name: 'tiny', label: 'label' }, ({ label, user }, graph) => {
 *   // …
 *   return { loss, pred, trainOp };
 * });
 * ```
 */
export function defineModel<const F extends Features>(
  schema: Schema<F>,
  { name, label }: ModelOptions<F>,
  build: ModelFunction<F>,
): ModelSpec {
  const graph = new Graph();
  const inputs = schema.inputs(graph);
  const { loss, pred, trainOp } = build(inputs, graph);
  return { name, graph, label: inputs[label] as unknown as Tensor, loss, pred, trainOp };
}
