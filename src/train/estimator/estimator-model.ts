/** @file What an estimator takes for a model, and what is refused of it before a session is made. */
import { MonolithError } from '../../base/errors.js';
import type { DataSchema } from '../../data/source-of.js';
import { Graph, misfit, Op, Tensor } from '../../graph/graph.js';
import type { Mode } from '../../graph/mode.js';
import type { FeedData } from '../../memory/batch.js';
import type { ModelSpec } from '../model-spec.js';

/** A batch that was predicted. */
export interface PredictedBatch {
  readonly examples: number;
  /** By name; without those that the data lacks, such as labels. */
  readonly features: Readonly<Record<string, FeedData>>;
  /** Predictions by the names of the heads: those of an example after those of the one before. */
  readonly heads: Readonly<Record<string, Float32Array>>;
}

/** Sees the batches of one prediction in their order, each before whoever asked for it gets it. */
export interface BatchListener {
  batch(batch: PredictedBatch): Promise<void>;
  /** At the end, however it came. */
  close(): Promise<void>;
}

/** The graph of a model in one mode: a prediction has no loss and no label, an evaluation no train op. */
export type BuiltModel = Pick<ModelSpec, 'name' | 'graph' | 'pred'> &
  Partial<ModelSpec> & {
    /** Made for each prediction. */
    readonly listener?: () => BatchListener;
  };

/** A model that can be built once per mode: what `defineModel` gives, or a task behind an adapter. */
export interface EstimatorModel {
  /** Checkpoints are refused by a model of another name. */
  readonly name: string;
  /** What a batch holds, in this order. */
  readonly schema: DataSchema;
  build(mode: Mode): BuiltModel;
  /** Whether a loss without label and prediction will do, as for tasks. Default: false. */
  readonly lossAlone?: boolean;
}

/** `monolith.training.<name>`: of one estimator, where the reference sets it for the whole process. */
export const metricPrefixOf = (name: string): string => `monolith.training.${name}`;

const WHERE = 'Estimator';

/** ML_OPTION for what is no model, or one without a name or features. */
export function checkEstimatorModel(model: EstimatorModel): void {
  const { name, schema, build } = (model ?? {}) as Partial<EstimatorModel>;
  if (typeof build !== 'function') {
    const hint = 'defineModel makes one';
    throw new MonolithError(
      'ML_OPTION',
      { where: WHERE, option: 'model', reason: 'a model is needed, with build' },
      { hint },
    );
  }
  if (typeof name !== 'string' || name === '') {
    throw new MonolithError('ML_OPTION', { where: WHERE, option: 'model', reason: 'the model has no name' });
  }
  if (!Array.isArray(schema?.specs) || schema.specs.length === 0) {
    const hint = 'its schema says what an example holds: defineSchema({ … })';
    throw new MonolithError(
      'ML_OPTION',
      { where: WHERE, option: 'model', reason: `model ${name} has no features` },
      { hint },
    );
  }
}

/** The model built in a mode; ML_GRAPH when it lacks what the mode needs. */
export function buildIn(model: EstimatorModel, mode: 'train'): ModelSpec;
export function buildIn(model: EstimatorModel, mode: 'eval'): Omit<ModelSpec, 'trainOp'>;
export function buildIn(model: EstimatorModel, mode: Mode): BuiltModel;
export function buildIn(model: EstimatorModel, mode: Mode): BuiltModel {
  const built = model.build(mode) as Partial<ModelSpec> | null | undefined;
  if (!(built?.graph instanceof Graph)) throw misfit(model.name, `its build gave no graph in mode ${mode}`);
  for (const part of NEEDED[mode]) {
    const value: unknown = built[part];
    if (value instanceof Tensor || value instanceof Op) continue;
    if (model.lossAlone === true && mode !== 'predict' && (part === 'label' || part === 'pred')) continue;
    throw misfit(model.name, `it has no ${part}, which mode ${mode} needs`);
  }
  return { ...built, name: model.name } as BuiltModel;
}

const NEEDED: Readonly<Record<Mode, readonly (keyof ModelSpec)[]>> = {
  train: ['label', 'pred', 'loss', 'trainOp'],
  eval: ['label', 'pred', 'loss'],
  predict: ['pred'],
};
