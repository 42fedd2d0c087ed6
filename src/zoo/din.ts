/** @file Deep interest network: what a user did, weighted by the item at hand. */
import type { Features, Schema } from '../data/schema.js';
import { mul } from '../graph/ops/elementwise.js';
import { sequenceMask } from '../graph/ops/sequence.js';
import type { Ids } from '../graph/typed-inputs.js';
import { targetAttention } from '../layers/target-attention-layer.js';
import type { Model } from '../train/model.js';
import { deepOf } from './deep.js';
import { besides, checkFeatures, DEEP, type DeepOptions, DIM, optionError, zooModel } from './zoo-model.js';

export interface DinOptions<F extends Features = Features> extends DeepOptions<F> {
  /** The feature of the item that is judged: one id. */
  readonly target: keyof F & string;
  /** The feature of the items before it: `f.ids()`, of the same kind of ids. */
  readonly history: keyof F & string;
  /** How many of them are looked at. Default: `max` of the feature, else 16. */
  readonly length?: number;
}

/**
 * Deep interest network: items of the history count by how much they have to do with the target, with which they share
 * a table.
 *
 * ```ts
 * const model = zoo.din(schema, { target: 'movieId', history: 'watched' });
 * ```
 */
export function din<F extends Features>(schema: Schema<F>, options: DinOptions<F>): Model<F> {
  const { dim = DIM, target, history, length } = options;
  return zooModel('din', [...DEEP, 'target', 'history', 'length'], schema, options, (inputs, m) => {
    checkFeatures('din', schema.features, [target], 'target');
    checkFeatures('din', schema.features, [history], 'history');
    const past = schema.features[history]!;
    if (past.kind !== 'ragged') throw optionError('din', 'history', `${history} is no sequence`, 'f.ids() is one');
    const of = (name: string) => inputs.ids[inputs.idNames.indexOf(name)] as Ids;
    const firstN = length ?? past.valuesPerRow;
    const item = m.embed(of(target), { dim, share: target });
    const seen = m.embed(of(history), { dim, share: target, combiner: { firstN } });
    const interest = targetAttention(item, seen, { mask: sequenceMask(of(history), firstN) });
    const others = inputs.ids.filter((_, index) => ![target, history].includes(inputs.idNames[index]!));
    const x = besides([item, interest, mul(item, interest), ...m.embed(others, { dim }), inputs.numbers]);
    return deepOf(x, options);
  });
}
