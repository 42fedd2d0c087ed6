/** @file A model small enough for tests of the estimator, who likes what, and its rows. */
import { hashU32 } from '../../../src/base/random.js';
import { defineSchema, dense, ragged } from '../../../src/data/schema.js';
import { gradients } from '../../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../../src/graph/graph.js';
import type { Mode } from '../../../src/graph/mode.js';
import { sigmoid } from '../../../src/graph/ops/activations.js';
import { columns } from '../../../src/graph/ops/columns.js';
import { addN } from '../../../src/graph/ops/elementwise.js';
import { sigmoidCrossEntropyWithLogits } from '../../../src/graph/ops/losses.js';
import { matMul } from '../../../src/graph/ops/matmul.js';
import { reduceMean } from '../../../src/graph/ops/reductions.js';
import { rowDot } from '../../../src/graph/ops/rows.js';
import { globalStep, group, increment, variable } from '../../../src/graph/ops/state.js';
import { applyGradients } from '../../../src/optim/apply-gradients.js';
import { RandomUniformInitializer } from '../../../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../../../src/sparse/config/optimizers.js';
import { defineTable } from '../../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../../src/sparse/steps/embedding-ops.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import type { EstimatorModel } from '../../../src/train/estimator/estimator-model.js';
import type { EstimatorOptions } from '../../../src/train/estimator/estimator-options.js';

export const schema = defineSchema({
  label: dense.f32(),
  user: ragged.i64({ valuesPerRow: 1 }),
  item: ragged.i64({ valuesPerRow: 1 }),
});

/** The model; what `change` makes of a built one takes its place. */
export function tastes(change: (built: object, mode: Mode) => object = (built) => built, name = 'tastes') {
  const build = (mode: Mode) => change(buildTastes(mode, name), mode) as ReturnType<EstimatorModel['build']>;
  return { name, schema, build };
}

function buildTastes(mode: Mode, name: string) {
  const graph = new Graph({ mode });
  const { label, user, item } = schema.inputs(graph);
  const optimizer = AdagradOptimizer({ learningRate: 0.3, initialAccumulatorValue: 1e-3 });
  const segment = { dim: 4, initializer: RandomUniformInitializer(-0.5, 0.5), optimizer };
  const [a, b] = [user, item].map((ids, at) => embeddingLookup(ids, defineTable(['user', 'item'][at]!, [segment])));
  const weights = variable(graph, { name: 'linear/kernel', shape: [4, 1], initial: () => new Float32Array(4) });
  const linear = columns(matMul(a!, weights, { name: 'linear/MatMul' }), 0, 1);
  const logit = addN([rowDot(a!, b!), linear], { name: 'logit' });
  const pred = sigmoid(logit, { name: 'pred' });
  if (mode === 'predict') return { name, graph, pred };
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logit, label), { name: 'loss' });
  if (mode === 'eval') return { name, graph, pred, label, loss };
  const [byUser, byItem, byWeights] = gradients([loss], [a!, b!, weights]) as [Tensor, Tensor, Tensor];
  const steps = [
    ...applyEmbeddingGradients([
      [byUser, a!],
      [byItem, b!],
    ]),
    ...applyGradients([[byWeights, weights]], optimizer),
  ];
  const trainOp = group(graph, [increment(globalStep(graph)), ...steps]);
  return { name, graph, pred, label, loss, trainOp };
}

export interface Taste {
  readonly user: number;
  readonly item: number;
  readonly label: number;
}

/** Users like the items of the other parity. */
export function tasteRows(count: number, first = 0): Taste[] {
  return Array.from({ length: count }, (_, index) => {
    const user = hashU32(7, index + first) % 40;
    const item = hashU32(8, index + first) % 40;
    return { user, item, label: (user + item) % 2 };
  });
}

/** An estimator of it with little memory. */
export function tasteEstimator(options: EstimatorOptions = {}, model = tastes()) {
  const session = { memoryBytes: 2 ** 26, ...options.session };
  return new Estimator(model, { batchSize: 32, threads: 1, seed: 1, ...options, session });
}

/** All that an iterable gives. */
export async function listOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}
