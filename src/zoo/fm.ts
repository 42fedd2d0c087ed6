/** @file Factorization machines: weights, and dot products of embeddings; plain and field-aware. */
import type { Features, Schema } from '../data/schema.js';
import { misfit, type Tensor } from '../graph/graph.js';
import { reshape, stack } from '../graph/ops/shape.js';
import { fieldAwareFm, fm as pairsOf } from '../layers/factorization.js';
import type { Model } from '../train/model.js';
import { DIM, EMBEDDING, type EmbeddingOptions, linear, zooModel } from './zoo-model.js';

/** Factorization machine: logistic regression, and the dot products of all pairs of features. */
export function fm<F extends Features>(schema: Schema<F>, options: EmbeddingOptions<F> = {}): Model<F> {
  return zooModel('fm', EMBEDDING, schema, options, (inputs, m) => {
    const fields = m.embed(fieldsOf('fm', inputs.ids), { dim: options.dim ?? DIM, bias: true });
    return linear(inputs, [pairsOf(fields), m.biases()]);
  });
}

/** Floats of an embedding towards one other field. */
const FIELD_DIM = 4;

/**
 * Field-aware factorization machine: each feature has an embedding towards each other one, of `dim` floats. Default
 * `dim`: 4.
 */
export function ffm<F extends Features>(schema: Schema<F>, options: EmbeddingOptions<F> = {}): Model<F> {
  const { dim = FIELD_DIM } = options;
  return zooModel('ffm', EMBEDDING, schema, options, (inputs, m) => {
    const n = fieldsOf('ffm', inputs.ids).length;
    const rows: readonly Tensor[] = m.embed(inputs.ids, { dim: n * dim, bias: true });
    return linear(inputs, [fieldAwareFm(reshape(stack(rows), [n, n, dim])), m.biases()]);
  });
}

function fieldsOf<T>(kind: string, ids: readonly T[]): readonly T[] {
  if (ids.length > 1) return ids;
  throw misfit(`zoo.${kind}`, `it is about pairs of ids, and the schema has ${ids.length} feature of them`, 'zoo.lr');
}
