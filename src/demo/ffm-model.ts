/**
 * @file The built-in demo: a field-aware factorization machine over six sparse features.
 *
 * Mirrors TestFFMModel: slots 0 to 3 have a bias (FTRL), five interactions of dimension 16 (SGD),
 * logit = sum of dot products and biases, loss = mean sigmoid cross entropy. The global step is counted before the
 * gradients are applied.
 */
import { FeatureFactory, type FeatureSlice } from '../feature/model/feature-slot.js';
import { gradients } from '../graph/gradients.js';
import { Graph, type Op } from '../graph/graph.js';
import { sigmoid } from '../graph/ops/activations.js';
import { addN } from '../graph/ops/elementwise.js';
import { sigmoidCrossEntropyWithLogits } from '../graph/ops/losses.js';
import { reduceMean } from '../graph/ops/reductions.js';
import { rowDot } from '../graph/ops/rows.js';
import { globalStep, group, increment, placeholder, raggedPlaceholder } from '../graph/ops/state.js';
import { FtrlOptimizer, SgdOptimizer } from '../sparse/config/optimizers.js';
import type { ModelSpec } from '../train/model-spec.js';
import { FFM_BIAS_SLOT_COUNT, FFM_LENGTH_MAX, FFM_PAIRS, FFM_SLOT_COUNT, slotToKey } from './ffm-example.js';

/** Floats of each of the two vectors of a pair. */
const PAIR_DIM = 16;

/** Builds the graph. `idsPerFeature` bounds the ids an example has per feature. */
export function buildFfm(idsPerFeature = FFM_LENGTH_MAX): ModelSpec {
  const graph = new Graph();
  const label = placeholder(graph, { name: 'label' });
  const ids = Array.from({ length: FFM_SLOT_COUNT }, (_, i) =>
    raggedPlaceholder(graph, { name: slotToKey(i), valuesPerRow: idsPerFeature }),
  );
  const features = new FeatureFactory();
  const slots = ids.map((feature, i) =>
    features.createFeatureSlot({
      name: feature.op.name,
      hasBias: i < FFM_BIAS_SLOT_COUNT,
      biasOptimizer: FtrlOptimizer({ learningRate: 0.1, initialAccumulatorValue: 1e-6, beta: 1 }),
      defaultVecOptimizer: SgdOptimizer({ learningRate: 0.1 }),
    }),
  );
  const pairs = FFM_PAIRS.map(([user, item]): [number, FeatureSlice, number, FeatureSlice] => [
    user,
    slots[user]!.addFeatureSlice(PAIR_DIM),
    item,
    slots[item]!.addFeatureSlice(PAIR_DIM),
  ]);
  const columns = slots.map((slot, i) => features.createFeatureColumn(slot, ids[i]!));

  const dots = pairs.map(([user, userSlice, item, itemSlice]) =>
    rowDot(columns[user]!.embeddingLookup(userSlice), columns[item]!.embeddingLookup(itemSlice), {
      name: `dot_${user}_${item}`,
    }),
  );
  const biases = columns.slice(0, FFM_BIAS_SLOT_COUNT).map((column) => column.getBias());
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
