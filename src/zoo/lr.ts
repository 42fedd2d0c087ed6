/** @file Logistic regression: a weight for each id, one for each number. */
import type { Features, Schema } from '../data/schema.js';
import { ZerosInitializer } from '../sparse/config/initializers.js';
import type { Model } from '../train/model.js';
import { COMMON, linear, type ZooOptions, zooModel } from './zoo-model.js';

/**
 * Logistic regression: the sum of a weight for each id and each number.
 *
 * ```ts
 * const model = zoo.lr(schema);
 * ```
 */
export function lr<F extends Features>(schema: Schema<F>, options: ZooOptions<F> = {}): Model<F> {
  return zooModel('lr', COMMON, schema, options, (inputs, m) =>
    linear(inputs, m.embed(inputs.ids, { dim: 1, initializer: ZerosInitializer() })),
  );
}
