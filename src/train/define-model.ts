/** @file A model from a schema: the function that builds its graph, held to the features and the label it declared. */

import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import type { Features, Inputs, LabelName, Schema } from '../data/schema.js';
import { Graph, misfit, Op, Tensor } from '../graph/graph.js';
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
  options: ModelOptions<F>,
  build: ModelFunction<F>,
): ModelSpec {
  const { name, label } = checkOptions('defineModel', options, ['name', 'label']);
  const graph = new Graph();
  const inputs = schema.inputs(graph);
  const target: unknown = Object.hasOwn(inputs, label) ? inputs[label] : undefined;
  if (!(target instanceof Tensor)) throw noLabel(label, Object.keys(inputs));
  const outputs = build(inputs, graph);
  const { loss, pred, trainOp } = checkOptions('the outputs of a model', outputs, ['loss', 'pred', 'trainOp']);
  for (const [output, value] of Object.entries({ loss, pred, trainOp })) {
    if (!(value instanceof Tensor || value instanceof Op)) throw misfit(name, `the model function gave no ${output}`);
  }
  return { name, graph, label: target, loss, pred, trainOp };
}

function noLabel(label: unknown, features: readonly string[]): MonolithError {
  const reason = `the schema has no feature ${String(label)} to be the label`;
  const hint = didYouMean(String(label), features) ?? `it has ${features.join(', ')}`;
  return new MonolithError('ML_OPTION', { where: 'defineModel', option: 'label', reason }, { hint });
}
