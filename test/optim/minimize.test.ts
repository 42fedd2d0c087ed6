import t from 'tap';
import * as optimizers from '../../src/compat/optimizers.js';
import { Graph } from '../../src/graph/graph.js';
import { columns } from '../../src/graph/ops/columns.js';
import { scale } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias, rowDot } from '../../src/graph/ops/rows.js';
import { globalStep, placeholder, raggedPlaceholder, VARIABLES, variable } from '../../src/graph/ops/state.js';
import type { Optimizer } from '../../src/optim/optimizer.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { Tensor as Value } from '../../src/tensor/tensor.js';
import { withSession } from '../runtime/with-session.js';

const { AdamomOptimizer, RmspropOptimizer, ShampooOptimizer } = optimizers;

/** loss = x · v, so the gradient of v [1] is the x that is fed. */
function scalarModel() {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x' });
  const v = variable(graph, { name: 'v', shape: [1], initial: () => Float32Array.of(0.1) });
  return { graph, v, loss: reduceMean(rowDot(x, addBias(scale(x, 0), v))) };
}

async function stepOnce(optimizer: Optimizer): Promise<Record<string, number>> {
  const { graph, loss } = scalarModel();
  const train = optimizer.minimize(loss);
  return withSession(graph, { threads: 1 }, async (session) => {
    await session.run([train], { x: Float32Array.of(0.12) });
    return Object.fromEntries(session.variableNames.map((name) => [name, Number(session.readVariable(name)[0])]));
  });
}

t.test('one step of minimize has the numbers of adamom_test, rmsprop_test and rmspropv2_test', async (t) => {
  const rates = { learningRate: 0.1, beta1: 0.9, beta2: 0.9, weightDecay: 1, epsilon: 0.1 };
  const cases: [Optimizer, Record<string, number>][] = [
    [
      new AdamomOptimizer({ learningRate: 0.1, weightDecay: 0.01, adaDecay: 0.99, momDecay: 0.9 }),
      { v: 0.090000336, 'v/Adamom/m': 0.0121, 'v/Adamom/v': 0.014641, 'v/Adamom/c': 1 },
    ],
    [new RmspropOptimizer(rates), { v: 0.032054738, 'v/Rmsprop/m': 0.067945262, 'v/Rmsprop/v': 0.00484 }],
    [new RmspropOptimizer({ ...rates, useV2: true }), { v: 0.03125, 'v/Rmsprop/m': 0.06875, 'v/Rmsprop/v': 0.0484 }],
  ];
  for (const [optimizer, wanted] of cases) {
    const found = await stepOnce(optimizer);
    t.same(Object.keys(found), Object.keys(wanted));
    for (const [name, value] of Object.entries(wanted)) t.ok(Math.abs(found[name]! - value) < 1e-8, name, { found });
  }
});

t.test('without slot updates adamom moves by its old slots and rmsprop stays', async (t) => {
  const options = { learningRate: 1, updateSlots: false };
  const { v, ...rmsprop } = await stepOnce(new RmspropOptimizer(options));
  t.same([v, ...Object.values(rmsprop)], [Math.fround(0.1), 0, 0]);
  t.same(Object.values(await stepOnce(new AdamomOptimizer(options))), [Math.fround(0.1), 0, 0, 0]);
});

t.test('minimize counts the step, steps trainable variables and leaves the others', async (t) => {
  const { graph, v, loss } = scalarModel();
  const frozen = variable(graph, { name: 'frozen', shape: [1], initial: () => Float32Array.of(1), trainable: false });
  const optimizer = new optimizers.GradientDescentOptimizer({ learningRate: 1 });
  const unused = variable(graph, { name: 'unused', shape: [1], initial: () => Float32Array.of(1) });
  t.same(
    optimizer.computeGradients(loss).map(([gradient, target]) => [gradient !== undefined, target]),
    [
      [true, v],
      [false, unused],
    ],
  );
  const train = optimizer.minimize(loss, { globalStep: globalStep(graph) });
  await withSession(graph, { threads: 2 }, async (session) => {
    for (let step = 0; step < 3; step++) await session.run([train], { x: Float32Array.of(1) });
    t.equal(session.globalStep, 3);
    t.same([...session.readVariable(frozen.op.name), ...session.readVariable(unused.op.name)], [1, 1]);
    t.ok(Math.abs(Number(session.readVariable('v')[0]) + 2.9) < 1e-6);
  });
  const message = /No gradients provided for any variable/;
  t.throws(() => optimizer.minimize(loss, { varList: [unused] }), { code: 'ML_GRAPH', message });
  t.throws(() => optimizer.applyGradients([[undefined, v]]), { code: 'ML_GRAPH', message });
  t.throws(() => optimizer.applyGradients([]), { code: 'ML_GRAPH', message: /No variables provided/ });
});

t.test('a second adam has powers of its own', async (t) => {
  const { graph, loss } = scalarModel();
  for (let i = 0; i < 2; i++) new optimizers.AdamOptimizer().minimize(loss);
  t.same(
    graph.getCollection(VARIABLES).map(({ op }) => op.name),
    ['v', 'beta1_power', 'beta2_power', 'v/Adam', 'v/Adam_1', 'beta1_power_1', 'beta2_power_1', 'v/Adam_2', 'v/Adam_3'],
  );
});

t.test('gradients of lookups are refused by dense optimizers, in the words of upstream', async (t) => {
  const graph = new Graph();
  const config = defineTable('t', [{ dim: 2, optimizer: SgdOptimizer() }]);
  const lookup = embeddingLookup(raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }), config);
  const gradient = placeholder(graph, { name: 'g', width: 2 });
  for (const optimizer of [new ShampooOptimizer(), new AdamomOptimizer(), new RmspropOptimizer()]) {
    for (const target of [lookup, columns(lookup, 0, 1)]) {
      t.throws(() => optimizer.applyGradients([[gradient, target]]), {
        code: 'ML_DENSE_SPARSE',
        message: `${optimizer.name} does not support sparse gradients`,
      });
    }
  }
});

t.test('options that cannot be are refused', async (t) => {
  const scalar = new Value('float32', [], Float32Array.of(0.5));
  t.ok(new RmspropOptimizer({ beta1: scalar }), 'a tensor of rank 0 is a number');
  const vector = new Value('float32', [1], Float32Array.of(0.5));
  t.throws(() => new RmspropOptimizer({ beta1: vector }), { message: 'beta1 is not a scalar: [1]' });
  t.throws(optimizers.applyDenseLegacy, { code: 'ML_DENSE_LEGACY' });
  const adagrad = { learningRate: 1, initialAccumulatorValue: 0 };
  t.throws(() => new optimizers.AdagradOptimizer(adagrad), { message: /initial_accumulator_value must be positive/ });
  const ftrl = { learningRate: 1, l1RegularizationStrength: -1 };
  t.throws(() => new optimizers.FtrlOptimizer(ftrl), { code: 'ML_FLAG' });
  t.throws(() => new ShampooOptimizer({ learningRate: (() => 1) as unknown as number }), { code: 'ML_RATE' });
  for (const learningRate of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.throws(() => new ShampooOptimizer({ learningRate }), { code: 'ML_RATE', hint: /negate the loss/ });
  }
  t.throws(() => new ShampooOptimizer({ tau1: 0 }), { code: 'ML_FLAG', message: /tau1/ });
});
