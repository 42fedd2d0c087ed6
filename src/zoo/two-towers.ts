/** @file Two towers: users and items as vectors whose dot product says who likes what, for search over many items. */
import { MonolithError } from '../base/errors.js';
import type { Features, Schema } from '../data/schema.js';
import type { Tensor } from '../graph/graph.js';
import { sigmoid } from '../graph/ops/activations.js';
import { scale } from '../graph/ops/elementwise.js';
import { inbatchSoftmaxLoss } from '../graph/ops/inbatch-softmax.js';
import { l2Normalize } from '../graph/ops/norms.js';
import { reduceMean } from '../graph/ops/reductions.js';
import { rowDot } from '../graph/ops/rows.js';
import { mlp } from '../layers/mlp-layer.js';
import type { ModelBuilder } from '../model/model-builder.js';
import type { Model } from '../train/model.js';
import { besides, checkFeatures, DEEP, type DeepOptions, DIM, HIDDEN, type ZooInputs, zooModel } from './zoo-model.js';

export interface TwoTowersOptions<F extends Features = Features> extends DeepOptions<F> {
  /** The features of the item. All others that are used are the user's. */
  readonly item: readonly (keyof F & string)[];
  /** Similarities are divided by it. Default: 0.1. */
  readonly temperature?: number;
}

/**
 * Two towers, trained with the other items of the batch as negatives. A schema without a label has positives only; with
 * one, examples of label 0 are negatives for others and pull nothing together themselves.
 *
 * ```ts
 * const model = zoo.twoTowers(schema, { item: ['movieId', 'genres'] });
 * ```
 */
export function twoTowers<F extends Features>(schema: Schema<F>, options: TwoTowersOptions<F>): Model<F> {
  const { item = [], temperature = 0.1, hidden = HIDDEN } = options;
  if (!(temperature > 0)) throw refusal('temperature', `${temperature} is not above 0`);
  if (item.length === 0) throw refusal('item', 'it is not said which features are those of the item');
  checkFeatures('twoTowers', schema.features, item, 'item');
  const marked = Object.values(schema.features).some(({ field }) => field?.role === 'label');
  const label = options.label === undefined && !marked ? { label: null } : {};
  const given = { ...options, ...label } as DeepOptions<F>;
  return zooModel('twoTowers', [...DEEP, 'item', 'temperature'], schema, given, (inputs, m) => {
    const users = Object.keys(schema.features).filter((name) => !item.includes(name));
    const tower = (names: readonly string[], name: string) =>
      towerOf(inputs.only(names), m, { ...options, hidden, name });
    const [user, other] = [tower(users, 'user'), tower(item, 'item')];
    const weights = m.hasLabel ? { weights: m.labelOf('zoo.twoTowers').label } : {};
    const loss = reduceMean(inbatchSoftmaxLoss(user, other, { temperature, ...weights }), { name: 'loss' });
    return { loss, pred: sigmoid(scale(rowDot(user, other), 1 / temperature), { name: 'pred' }) };
  });
}

/** A row of length 1 for one side. */
function towerOf<F extends Features>(
  inputs: ZooInputs,
  m: ModelBuilder<F>,
  options: DeepOptions<F> & { name: string },
): Tensor {
  const { dim = DIM, hidden = HIDDEN, dropout, name } = options;
  const x = besides([...m.embed(inputs.ids, { dim }), inputs.numbers]);
  return l2Normalize(mlp(x, hidden, { name, ...(dropout !== undefined && { dropout }) }), { name: `${name}_vector` });
}

const refusal = (option: string, reason: string) =>
  new MonolithError('ML_OPTION', { where: 'zoo.twoTowers', option, reason });
