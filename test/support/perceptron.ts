/** @file A small dense model with its batches, for tests that train it in several ways and compare. */
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { relu } from '../../src/graph/ops/activations.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias } from '../../src/graph/ops/rows.js';
import { globalStep, group, increment, placeholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { stream } from '../kernels/both.js';

const [FEATURES, HIDDEN] = [6, 19];
/** Rows a batch has at most. */
export const PERCEPTRON_BATCH = 30;

/** Two dense layers that learn whether the first feature outweighs the second. */
export function perceptron() {
  const graph = new Graph();
  const [x, label] = [placeholder(graph, { name: 'x', width: FEATURES }), placeholder(graph, { name: 'label' })];
  const next = stream(1);
  const random = (count: number) => () => Float32Array.from({ length: count }, () => next() - 0.5);
  const parameters = [
    variable(graph, { name: 'w1', shape: [FEATURES, HIDDEN], initial: random(FEATURES * HIDDEN) }),
    variable(graph, { name: 'b1', shape: [HIDDEN], initial: random(HIDDEN) }),
    variable(graph, { name: 'w2', shape: [HIDDEN, 1], initial: random(HIDDEN) }),
    variable(graph, { name: 'b2', shape: [1], initial: random(1) }),
  ] as const;
  const [w1, b1, w2, b2] = parameters;
  const hidden = relu(addBias(matMul(x, w1), b1));
  const logits = addBias(matMul(hidden, w2), b2);
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logits, label));
  const grads = gradients([loss], parameters) as Tensor[];
  const updates = applyGradients(
    grads.map((grad, index) => [grad, parameters[index]!] as const),
    AdagradOptimizer({ learningRate: 0.1, initialAccumulatorValue: 0.1 }),
  );
  const train = group(graph, [increment(globalStep(graph)), ...updates]) as Op;
  return { graph, loss, logits, train };
}

/** The batch of a step: sizes that do not divide by the slices, and one with fewer rows than slices. */
export function perceptronBatch(step: number) {
  const next = stream(step + 100);
  const rows = step === 7 ? 3 : PERCEPTRON_BATCH - (step % 5);
  const x = Float32Array.from({ length: rows * FEATURES }, () => next() * 2 - 1);
  const label = Float32Array.from({ length: rows }, (_, r) => (x[r * FEATURES]! > x[r * FEATURES + 1]! ? 1 : 0));
  return { x, label };
}
