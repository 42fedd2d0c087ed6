import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { relu } from '../../src/graph/ops/activations.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias } from '../../src/graph/ops/rows.js';
import { globalStep, group, increment, placeholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { stream } from '../kernels/both.js';
import { withSession } from './with-session.js';

const [FEATURES, HIDDEN, BATCH, STEPS] = [6, 19, 30, 60];

/** Two dense layers that learn whether the first feature outweighs the second. */
function perceptron() {
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
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(addBias(matMul(hidden, w2), b2), label));
  const grads = gradients([loss], parameters) as Tensor[];
  const updates = applyGradients(
    grads.map((grad, index) => [grad, parameters[index]!] as const),
    AdagradOptimizer({ learningRate: 0.1, initialAccumulatorValue: 0.1 }),
  );
  const train = group(graph, [increment(globalStep(graph)), ...updates]) as Op;
  return { graph, loss, train };
}

function batch(step: number) {
  const next = stream(step + 100);
  // Sizes that do not divide by the slices, and one step with fewer rows than slices.
  const rows = step === 7 ? 3 : BATCH - (step % 5);
  const x = Float32Array.from({ length: rows * FEATURES }, () => next() * 2 - 1);
  const label = Float32Array.from({ length: rows }, (_, r) => (x[r * FEATURES]! > x[r * FEATURES + 1]! ? 1 : 0));
  return { x, label };
}

async function trained(options: Partial<SessionOptions>) {
  const { graph, loss, train } = perceptron();
  return withSession(graph, { batchSize: BATCH, ...options }, async (session) => {
    const losses: number[] = [];
    for (let step = 0; step < STEPS; step++) losses.push((await session.run([loss, train], batch(step)))[0] as number);
    const variables = session.variableNames.map((name) => [
      name,
      Buffer.from(session.readVariable(name).slice().buffer).toString('hex'),
    ]);
    return { losses, variables };
  });
}

const worst = (a: readonly number[], b: readonly number[]) => Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));

t.test('two dense layers learn, with the same bytes for any number of threads in deterministic mode', async (t) => {
  const runs = [];
  for (const threads of [1, 2, 3]) runs.push(await trained({ threads, deterministic: true }));
  const [first, ...others] = runs;
  for (const other of others) t.strictSame(other, first);
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  t.ok(mean(first!.losses.slice(-10)) < 0.8 * mean(first!.losses.slice(0, 10)), 'the loss falls');
});

t.test('the plain backend trains to the same losses', async (t) => {
  for (const threads of [1, 2]) {
    const [wasm, plain] = [await trained({ threads }), await trained({ threads, backend: 'reference' })];
    const distance = worst(wasm.losses, plain.losses);
    t.ok(distance <= 1e-6, `losses differ by ${distance}`);
  }
});

t.test('the number of threads changes rounding only, and one number gives one result', async (t) => {
  const [one, two, again] = [
    await trained({ threads: 1 }),
    await trained({ threads: 2 }),
    await trained({ threads: 2 }),
  ];
  t.same(again, two);
  t.ok(worst(one.losses, two.losses) < 1e-5);
});
