/** @file A model from a schema: the function that builds its graph, held to the features and the label it declared. */

import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import type { Features, Inputs, LabelName, Schema } from '../data/schema.js';
import { Graph, misfit, Op, Tensor } from '../graph/graph.js';
import { checkMode, type Mode } from '../graph/mode.js';
import type { ModelSpec } from './model-spec.js';

export interface ModelOptions<F extends Features> {
  /** Checkpoints are refused by a model of another name. */
  readonly name: string;
  /** The feature that is the label: one float for each example. */
  readonly label: LabelName<F>;
}

/** What a model is built for. */
export interface ModeOption<M extends Mode> {
  /**
   * Default: none. The graph then serves all modes: a run that updates something trains, any other evaluates or
   * predicts. With a mode, every run that says nothing else has it; in `eval` and `predict` tables and
   * weights are only read.
   */
  readonly mode?: M;
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

/**
 * What it must return in a mode: an evaluation needs no step, a prediction no loss either. What is there beside is left
 * out.
 */
export type OutputsIn<M extends Mode> = [M] extends ['train']
  ? ModelOutputs
  : [M] extends ['train' | 'eval']
    ? Omit<ModelOutputs, 'trainOp'> & Partial<ModelOutputs>
    : Pick<ModelOutputs, 'pred'> & Partial<ModelOutputs>;
/** The model of a mode: without the step of one that evaluates, and without the loss of one that predicts. */
export type ModelIn<M extends Mode> = [M] extends ['train']
  ? ModelSpec
  : [M] extends ['eval']
    ? Omit<ModelSpec, 'trainOp'>
    : Omit<ModelSpec, 'trainOp' | 'loss'> & Partial<ModelSpec>;

export type ModelFunction<F extends Features, M extends Mode = 'train'> = (
  inputs: Inputs<F>,
  graph: Graph,
  mode: M,
) => OutputsIn<M>;

/**
 * Builds the graph of a model.
 *
 * ```ts
 * const model = defineModel(schema, { name: 'tiny', label: 'label' }, ({ label, user }, graph) => {
 *   // …
 *   return { loss, pred, trainOp };
 * });
 * ```
 *
 * The model function is called once, with the mode; `mode: 'predict'` builds the same model for predictions.
 */
export function defineModel<const F extends Features, const M extends Mode = 'train'>(
  schema: Schema<F>,
  options: ModelOptions<F> & ModeOption<M>,
  build: ModelFunction<F, M>,
): ModelIn<M> {
  const { name, label, mode } = checkOptions('defineModel', options, ['name', 'label', 'mode']);
  if (mode !== undefined) checkMode('defineModel', mode);
  const graph = new Graph(mode === undefined ? {} : { mode });
  const inputs = schema.inputs(graph);
  const target: unknown = Object.hasOwn(inputs, label) ? inputs[label] : undefined;
  if (!(target instanceof Tensor)) throw noLabel(label, Object.keys(inputs));
  const built = build(inputs, graph, mode ?? ('train' as M)) as ModelOutputs;
  checkOptions('the outputs of a model', built, ['loss', 'pred', 'trainOp']);
  const kept = OUTPUTS[mode ?? 'train'].map((output) => {
    const value: unknown = built[output];
    if (!(value instanceof Tensor || value instanceof Op)) throw misfit(name, `the model function gave no ${output}`);
    return [output, value] as const;
  });
  return { name, graph, label: target, ...Object.fromEntries(kept) } as ModelIn<M>;
}

/** What a model of each mode has. */
const OUTPUTS: Readonly<Record<Mode, readonly (keyof ModelOutputs)[]>> = {
  train: ['loss', 'pred', 'trainOp'],
  eval: ['loss', 'pred'],
  predict: ['pred'],
};

function noLabel(label: unknown, features: readonly string[]): MonolithError {
  const reason = `the schema has no feature ${String(label)} to be the label`;
  const hint = didYouMean(String(label), features) ?? `it has ${features.join(', ')}`;
  return new MonolithError('ML_OPTION', { where: 'defineModel', option: 'label', reason }, { hint });
}
