/** @file Models with a network over embeddings: DeepFM, deep & cross, wide & deep. */
import type { Features, Schema } from '../data/schema.js';
import type { Tensor } from '../graph/graph.js';
import { fmPairs } from '../graph/ops/pairs.js';
import { cross } from '../layers/cross-layer.js';
import { dense } from '../layers/dense-layer.js';
import { mlp } from '../layers/mlp-layer.js';
import type { ModelBuilder } from '../model/model-builder.js';
import { FtrlOptimizer } from '../sparse/config/optimizers.js';
import type { Model } from '../train/model.js';
import { besides, DEEP, type DeepOptions, DIM, HIDDEN, linear, type ZooInputs, zooModel } from './zoo-model.js';

/** Embeddings side by side, with biases; undefined where the schema has no ids. */
function embedded<F extends Features>({ ids }: ZooInputs, m: ModelBuilder<F>, { dim = DIM }: DeepOptions<F>) {
  return ids.length === 0 ? undefined : besides(m.embed(ids, { dim, bias: true }));
}

/** The network of a model, down to `units`. */
export function deepOf(
  x: Tensor,
  { hidden = HIDDEN, dropout }: Pick<DeepOptions, 'hidden' | 'dropout'>,
  outputs: readonly number[] = [1],
): Tensor {
  return mlp(x, [...hidden, ...outputs], { name: 'deep', ...(dropout !== undefined && { dropout }) });
}

/** DeepFM: a factorization machine and a network over the same embeddings. */
export function deepfm<F extends Features>(schema: Schema<F>, options: DeepOptions<F> = {}): Model<F> {
  const { dim = DIM } = options;
  return zooModel('deepfm', DEEP, schema, options, (inputs, m) => {
    const fields = embedded(inputs, m, options);
    const deep = deepOf(besides([fields, inputs.numbers]), options);
    if (fields === undefined) return deep;
    return [deep, m.biases(), ...(inputs.ids.length > 1 ? [fmPairs(fields, { dim })] : [])];
  });
}

export interface DcnOptions<F extends Features = Features> extends DeepOptions<F> {
  /** Crossings. Default: 2. */
  readonly layers?: number;
  /** Rank of the kernels of crossings. Default: full. */
  readonly rank?: number;
}

/** Deep & cross network, version 2: crossings of the whole row beside a network. */
export function dcn<F extends Features>(schema: Schema<F>, options: DcnOptions<F> = {}): Model<F> {
  const { dim = DIM, layers = 2, rank, hidden = HIDDEN } = options;
  return zooModel('dcn', [...DEEP, 'layers', 'rank'], schema, options, (inputs, m) => {
    const x = besides([...m.embed(inputs.ids, { dim }), inputs.numbers]);
    const crossed = cross(x, layers, { version: 2, ...(rank !== undefined && { rank }) });
    const deep = deepOf(x, { ...options, hidden: hidden.slice(0, -1) }, hidden.slice(-1));
    return dense(besides([crossed, deep]), 1, { name: 'logit' });
  });
}

/** Steps the weights of the wide part, which become zero where they are of no use. */
const WIDE = FtrlOptimizer({ learningRate: 0.05, initialAccumulatorValue: 1e-6, beta: 1 });

/** Wide & deep: a weight for each id, stepped by FTRL, and a network over embeddings. */
export function wideAndDeep<F extends Features>(schema: Schema<F>, options: DeepOptions<F> = {}): Model<F> {
  const { dim = DIM } = options;
  return zooModel('wideAndDeep', DEEP, schema, options, (inputs, m) => {
    const fields = m.embed(inputs.ids, { dim, bias: true, biasOptimizer: WIDE });
    const deep = deepOf(besides([...fields, inputs.numbers]), options);
    return fields.length === 0 ? [deep] : linear(inputs, [m.biases(), deep]);
  });
}
