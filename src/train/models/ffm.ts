/**
 * @file The built-in demo: a field-aware factorization machine over six sparse features.
 *
 * Mirrors TestFFMModel: slots 0 to 3 have a bias (FTRL), five interactions of dimension 16 (SGD),
 * logit = sum of dot products and biases, loss = mean sigmoid cross entropy. The global step is counted before the
 * gradients are applied.
 */
import { FeatureFactory, type FeatureSlice } from '../../feature/model/feature-slot.js';
import { gradients } from '../../graph/gradients.js';
import { Graph, type Op } from '../../graph/graph.js';
import { sigmoid } from '../../graph/ops/activations.js';
import { addN } from '../../graph/ops/elementwise.js';
import { sigmoidCrossEntropyWithLogits } from '../../graph/ops/losses.js';
import { reduceMean } from '../../graph/ops/reductions.js';
import { rowDot } from '../../graph/ops/rows.js';
import { globalStep, group, increment, placeholder, raggedPlaceholder } from '../../graph/ops/state.js';
import { FtrlOptimizer, SgdOptimizer } from '../../sparse/config/optimizers.js';
import type { ModelSpec } from '../model-spec.js';

export const FFM_SLOTS = 6;
const BIAS_SLOTS = 4;
/** (user slot, item slot, dimension) */
const INTERACTIONS: readonly (readonly [number, number, number])[] = [
  [0, 3, 16],
  [0, 4, 16],
  [1, 5, 16],
  [2, 3, 16],
  [2, 5, 16],
];

/** Builds the graph. `idsPerFeature` bounds the ids an example has per feature: the generator draws at most five. */
export function buildFfm(idsPerFeature = 5): ModelSpec {
  const graph = new Graph();
  const label = placeholder(graph, { name: 'label' });
  const ids = Array.from({ length: FFM_SLOTS }, (_, i) =>
    raggedPlaceholder(graph, { name: `feature_${i}`, valuesPerRow: idsPerFeature }),
  );
  const features = new FeatureFactory();
  const slots = ids.map((feature, i) =>
    features.createFeatureSlot({
      name: feature.op.name,
      hasBias: i < BIAS_SLOTS,
      biasOptimizer: FtrlOptimizer({ learningRate: 0.1, initialAccumulatorValue: 1e-6, beta: 1 }),
      defaultVecOptimizer: SgdOptimizer({ learningRate: 0.1 }),
    }),
  );
  const pairs = INTERACTIONS.map(([user, item, dim]): [number, FeatureSlice, number, FeatureSlice] => [
    user,
    slots[user]!.addFeatureSlice(dim),
    item,
    slots[item]!.addFeatureSlice(dim),
  ]);
  const columns = slots.map((slot, i) => features.createFeatureColumn(slot, ids[i]!));

  const dots = pairs.map(([user, userSlice, item, itemSlice]) =>
    rowDot(columns[user]!.embeddingLookup(userSlice), columns[item]!.embeddingLookup(itemSlice), {
      name: `dot_${user}_${item}`,
    }),
  );
  const biases = columns.slice(0, BIAS_SLOTS).map((column) => column.getBias());
  const logit = addN([...dots, ...biases], { name: 'logit' });
  const pred = sigmoid(logit, { name: 'pred' });
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logit, label, { name: 'cross_entropy' }), { name: 'loss' });

  const step = increment(globalStep(graph), { by: 1, name: 'global_step/increment' });
  const lookups = columns.map((column) => column.getAllEmbeddingsConcat());
  const grads = gradients([loss], lookups);
  const updates = graph.controlDependencies([step], () =>
    features.applyEmbeddingGradients(grads.map((grad, i) => [grad!, columns[i]!] as const)),
  );
  const trainOp = group(graph, [step, ...updates], { name: 'train_op' });
  return { name: 'ffm', graph, label, pred, loss, trainOp: trainOp as Op };
}
