/** @file A model from a schema: the function that builds its graph, held to the features and the label it declared. */

import { checkKeys } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import {
  checkSchema,
  type Features,
  type Inputs,
  type LabelName,
  type MarkedLabel,
  type Schema,
} from '../data/schema.js';
import type { ClipOptions } from '../feature/model/clip-gradients.js';
import { Graph, misfit, Op, Tensor } from '../graph/graph.js';
import { checkMode, type Mode } from '../graph/mode.js';
import { greaterEqual } from '../graph/ops/elementwise.js';
import { DENSE_OPTIMIZER } from '../model/defaults.js';
import { Heads, type ModelHead } from '../model/heads.js';
import { ModelBuilder } from '../model/model-builder.js';
import { inPieces } from '../model/pieces.js';
import { standardised } from '../model/standardise.js';
import { addTrainStep } from '../model/train-step.js';
import type { VariableOptimizer } from '../optim/apply-gradients.js';
import type { OptimizerMessage } from '../sparse/config/config-messages.js';
import type { BuildOptions, Model } from './model.js';
import type { ModelIn } from './model-spec.js';

/** What `defineModel` takes beside the label. */
export interface CommonOptions extends ClipOptions {
  /** Checkpoints are refused by a model of another name. */
  readonly name: string;
  /** Steps variables. Default: Adagrad. */
  readonly optimizer?: VariableOptimizer;
  /** Steps rows of tables that `m.embed` makes. Default: Adagrad. */
  readonly rowOptimizer?: OptimizerMessage;
  /** Tables and variables that keep their values, by name; the name of a scope is all that is below it. */
  readonly freeze?: readonly string[];
  /** `gradient += weightDecay * variable`, of dense variables. */
  readonly weightDecay?: number;
}

/**
 * The label of heads that name none. A schema with one `f.label()` has said it already; `null` is for a model without,
 * whose function gives a loss of its own: every example is a positive.
 */
type LabelOption<F extends Features> = [MarkedLabel<F>] extends [never]
  ? { readonly label: LabelName<F> | null }
  : { readonly label?: LabelName<F> | null };

export type ModelOptions<F extends Features> = CommonOptions & LabelOption<F>;

/** What a model function returns that makes its loss itself. */
export interface ModelOutputs {
  /** Mean loss of the batch. */
  readonly loss: Tensor;
  /** Probability per example. */
  readonly pred: Tensor;
  /** One optimizer step, where the model function makes it itself. Default: a step of all that is under the loss. */
  readonly trainOp?: Op;
}

/**
 * Builds the graph of a model in the mode `m.mode`, by ops of `inputs` and of `m`, and says what it predicts: it is
 * called once for each build.
 */
export type ModelFunction<F extends Features> = (inputs: Inputs<F>, m: ModelBuilder<F>) => Heads | ModelOutputs;

/**
 * A model of a schema, by its name and the function that builds it.
 *
 * ```ts
 * const options = { name: 'tiny', label: 'click' };
 * const model = defineModel(schema, options, ({ price }, m) => m.binary(nn.mlp(price, [8, 1])));
 * const { graph, loss, trainOp } = model.build('train');
 * ```
 *
 * Every table and variable under the loss is trained, but for those in `freeze`: gradients, optimizers and the global
 * step are added where the function gives no train op.
 */
export function defineModel<const F extends Features>(
  schema: Schema<F>,
  options: ModelOptions<F>,
  build: ModelFunction<F>,
): Model<F> {
  checkSchema('defineModel', schema);
  checkKeys('defineModel', options, MODEL_OPTIONS);
  const { name, label } = options;
  if (typeof name !== 'string' || name === '') {
    throw new MonolithError('ML_OPTION', { where: 'defineModel', option: 'name', reason: 'a model needs a name' });
  }
  if (label !== undefined && label !== null) checkLabel(schema, label);
  if (typeof build !== 'function') {
    const hint = 'defineModel(schema, { name }, (inputs, m) => m.binary(…))';
    const reason = 'a function is needed that builds the model';
    throw new MonolithError('ML_OPTION', { where: 'defineModel', option: 'build', reason }, { hint });
  }
  checkExpiry(schema.features);
  return { name, schema, build: (mode, given) => buildIn(mode, schema, options, build, given) };
}

/** ML_OPTION for a label that the schema does not have, where the model is defined and not where it is built. */
function checkLabel<F extends Features>(schema: Schema<F>, label: string): void {
  const graph = new Graph();
  new ModelBuilder(graph, 'train', { schema, inputs: schema.inputs(graph), label }).labelOf('defineModel');
}

/** Rows expire by the time of the data: without one nothing ever would. */
function checkExpiry(features: Features): void {
  const fields = Object.entries(features);
  const expiring = fields.find(([, { field }]) => field !== undefined && 'expireDays' in field && field.expireDays);
  if (expiring === undefined || fields.some(([, { field }]) => field?.role === 'time')) return;
  const reason = `ids of ${expiring[0]} expire, and the schema has no time to go by`;
  throw new MonolithError(
    'ML_OPTION',
    { where: 'defineModel', option: 'expireDays', reason },
    { hint: 'add f.time()' },
  );
}

/** Names of the options of `defineModel`. */
export const MODEL_OPTIONS: readonly string[] = [
  'name',
  'label',
  'optimizer',
  'rowOptimizer',
  'freeze',
  'weightDecay',
  'clipType',
  'clipNorm',
  'sparseClipNorm',
  'sparseNormWarmupSteps',
];

function buildIn<F extends Features, M extends Mode>(
  mode: M,
  schema: Schema<F>,
  options: ModelOptions<F>,
  build: ModelFunction<F>,
  given: BuildOptions = {},
): ModelIn<M> {
  checkMode('model.build', mode);
  checkKeys('model.build', given, ['valuesPerRow']);
  const { label, ...common }: CommonOptions & { readonly label?: string | null } = options;
  const { name, rowOptimizer, optimizer = DENSE_OPTIMIZER, freeze = [], ...rest } = common;
  const graph = new Graph({ mode });
  const raw = schema.inputs(graph, given);
  const numbers = { ...raw, ...Object.fromEntries(standardised(schema.features, raw)) };
  const inputs = { ...numbers, ...Object.fromEntries(inPieces(schema.features, raw, numbers)) };
  const m = new ModelBuilder<F>(graph, mode, { schema, inputs, label, rowOptimizer });
  const built = build(inputs, m);
  const { heads, loss, trainOp } = built instanceof Heads ? ofHeads(built) : ofOutputs(name, built, m);
  const [first] = heads as [ModelHead];
  const predicting = { name, graph, label: first.label, pred: first.pred, heads };
  const scored = mode === 'predict' ? predicting : { ...predicting, loss };
  if (mode !== 'train') return scored as ModelIn<M>;
  return {
    ...scored,
    trainOp: trainOp ?? addTrainStep(loss, { ...rest, optimizer, freeze, reqTime: timeOf(schema.features, raw) }),
  } as ModelIn<M>;
}

/** The time of examples, where the schema has it. */
function timeOf(features: Features, inputs: Readonly<Record<string, unknown>>): Tensor | undefined {
  const name = Object.keys(features).find((feature) => features[feature]!.field?.role === 'time');
  return name === undefined ? undefined : (inputs[name] as Tensor);
}

interface Built {
  readonly heads: readonly ModelHead[];
  readonly loss: Tensor;
  readonly trainOp?: Op | undefined;
}

function ofHeads(built: Heads): Built {
  return { heads: built.list.map(({ head }) => head), loss: built.totalLoss() };
}

function ofOutputs<F extends Features>(name: string, built: unknown, m: ModelBuilder<F>): Built {
  if (built === undefined || built instanceof Tensor) {
    const given = built === undefined ? 'nothing' : `the tensor ${built.name}`;
    const hint = 'return m.binary(logit), or m.regression, m.multiclass, m.heads; or { loss, pred }';
    throw misfit(name, `its model function returned ${given}`, hint);
  }
  checkKeys('the outputs of a model', built, ['loss', 'pred', 'trainOp']);
  const { loss, pred, trainOp } = built as ModelOutputs;
  for (const [output, value] of Object.entries({ loss, pred })) {
    if (!(value instanceof Tensor)) throw misfit(name, `the model function gave no ${output}`);
  }
  if (loss.perExample) throw misfit(name, 'the loss has a value per example', 'ops.reduceMean makes one of them');
  if (trainOp !== undefined && !(trainOp instanceof Op)) throw misfit(name, 'the trainOp is no op');
  const target = m.hasLabel ? m.labelOf('defineModel') : { name: 'positive', label: onesFor(pred) };
  return { heads: [{ ...target, kind: 'own', pred, loss }], loss, trainOp };
}

/** The label of a model without one: 1 for every example. */
function onesFor(pred: Tensor): Tensor {
  return greaterEqual(pred, -FLOAT_MAX, { name: 'positive' });
}
const FLOAT_MAX = 3.4028234663852886e38;
