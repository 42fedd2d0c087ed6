/**
 * @file What models of the zoo share: which features of a schema they use and how, their options, and the label.
 *
 * Any schema will do: ids are embedded, numbers go beside them, times and counts are left out.
 */
import { checkKeys } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { checkSchema, type Feature, type Features, type LabelName, type Schema } from '../data/schema.js';
import { type Graph, misfit, type Tensor } from '../graph/graph.js';
import { concatColumns } from '../graph/ops/columns.js';
import { add } from '../graph/ops/elementwise.js';
import { variable } from '../graph/ops/state.js';
import type { Ids } from '../graph/typed-inputs.js';
import { dense } from '../layers/dense-layer.js';
import { Heads } from '../model/heads.js';
import type { Logit, ModelBuilder } from '../model/model-builder.js';
import {
  type CommonOptions,
  defineModel,
  MODEL_OPTIONS,
  type ModelOptions,
  type ModelOutputs,
} from '../train/define-model.js';
import type { Model } from '../train/model.js';

/** What every model of the zoo takes. */
export interface ZooOptions<F extends Features = Features> extends Partial<CommonOptions> {
  /** Default: the one `f.label()` of the schema. */
  readonly label?: LabelName<F>;
  /** What is predicted: the probability of a label of 0 or 1, or a number. Default: `binary`. */
  readonly task?: 'binary' | 'regression';
  /** The features that are used. Default: all ids and numbers. */
  readonly features?: readonly (keyof F & string)[];
}

/** Options of models with embeddings. */
export interface EmbeddingOptions<F extends Features = Features> extends ZooOptions<F> {
  /** Floats of an embedding. Default: 16. */
  readonly dim?: number;
}

/** Options of models with a network over the embeddings. */
export interface DeepOptions<F extends Features = Features> extends EmbeddingOptions<F> {
  /** Units of the hidden layers. Default: 64 and 32. */
  readonly hidden?: readonly number[];
  /** The share of hidden units that is dropped while training. Default: 0. */
  readonly dropout?: number;
}

export const COMMON = [...MODEL_OPTIONS, 'task', 'features'];
export const EMBEDDING = [...COMMON, 'dim'];
export const DEEP = [...EMBEDDING, 'hidden', 'dropout'];

/** Sizes where nobody says them. */
export const [DIM, HIDDEN] = [16, [64, 32] as readonly number[]];

/** The inputs of a model that are of one use. */
export interface ZooInputs {
  readonly graph: Graph;
  /** Features of ids, and their names. */
  readonly ids: readonly Ids[];
  readonly idNames: readonly string[];
  /** All numbers side by side; undefined where there are none. */
  readonly numbers: Tensor | undefined;
  /** Those of some features alone. */
  only(names: readonly string[]): ZooInputs;
}

/** A model of the zoo: its options checked, its logit made by `build`. */
export function zooModel<F extends Features>(
  kind: string,
  known: readonly string[],
  schema: Schema<F>,
  options: ZooOptions<F>,
  build: (inputs: ZooInputs, m: ModelBuilder<F>) => Logit | Heads | ModelOutputs,
): Model<F> {
  checkSchema(`zoo.${kind}`, schema);
  checkKeys(`zoo.${kind}`, options, known);
  const { task = 'binary', features = Object.keys(schema.features) } = options;
  if (task !== 'binary' && task !== 'regression') throw optionError(kind, 'task', `there is no task ${String(task)}`);
  checkFeatures(kind, schema.features, features);
  return defineModel(schema, modelOptions(kind, options), (inputs, m) => {
    const built = build(inputsOf(kind, schema.features, inputs as Given, features, options.label, m.graph), m);
    if (built instanceof Heads || 'pred' in built) return built;
    return task === 'binary' ? m.binary(built) : m.regression(built);
  });
}

type Given = Readonly<Record<string, unknown>>;

/** What of the options is for `defineModel`. */
function modelOptions<F extends Features>(kind: string, options: ZooOptions<F>): ModelOptions<F> {
  const passed = Object.entries(options).filter(([key]) => MODEL_OPTIONS.includes(key));
  return { name: kind, ...Object.fromEntries(passed) } as ModelOptions<F>;
}

/** What a feature is for: ids, a number, or neither. */
export function useOf(feature: Feature): 'ids' | 'number' | 'none' {
  const role = feature.field?.role;
  if (role === 'label' || role === 'time' || role === 'int') return 'none';
  return feature.kind === 'dense' ? 'number' : 'ids';
}

/** ML_OPTION for names that the schema does not have, or has for something else. */
export function checkFeatures(kind: string, features: Features, names: readonly string[], option = 'features'): void {
  const known = Object.keys(features);
  for (const name of names) {
    if (known.includes(name)) continue;
    throw optionError(kind, option, `the schema has no feature ${name}`, didYouMean(name, known) ?? known.join(', '));
  }
}

export function optionError(kind: string, option: string, reason: string, hint?: string): MonolithError {
  const where = `zoo.${kind}`;
  return new MonolithError('ML_OPTION', { where, option, reason }, hint === undefined ? {} : { hint });
}

function inputsOf(
  kind: string,
  features: Features,
  inputs: Given,
  names: readonly string[],
  label: string | undefined,
  graph: Graph,
): ZooInputs {
  const of = (use: 'ids' | 'number') =>
    names.filter((name) => name !== label && !name.endsWith('/weights') && useOf(features[name]!) === use);
  const [idNames, numbers] = [of('ids'), of('number').map((name) => inputs[name] as Tensor)];
  if (idNames.length + numbers.length === 0) throw misfit(`zoo.${kind}`, 'the schema has neither ids nor numbers');
  return {
    graph,
    idNames,
    ids: idNames.map((name) => inputs[name] as Ids),
    numbers: numbers.length === 0 ? undefined : numbers.length === 1 ? numbers[0] : concatColumns(numbers),
    only: (some) =>
      inputsOf(
        kind,
        features,
        inputs,
        names.filter((name) => some.includes(name)),
        label,
        graph,
      ),
  };
}

/** What is linear in numbers, and a constant: what is left of a logit when there are no ids. */
export function linear({ graph, numbers }: ZooInputs, terms: readonly Tensor[] = []): Tensor[] {
  if (numbers !== undefined) return [...terms, dense(numbers, 1, { name: 'linear', kernelInitializer: 'zeros' })];
  const intercept = variable(graph, { name: 'intercept', shape: [], initial: () => new Float32Array(1) });
  const [first, ...rest] = terms as [Tensor, ...Tensor[]];
  return [add(first, intercept), ...rest];
}

/** Tensors side by side, and numbers behind them where there are some. */
export function besides(parts: readonly (Tensor | undefined)[]): Tensor {
  const there = parts.filter((part) => part !== undefined);
  return there.length === 1 ? there[0]! : concatColumns(there);
}
