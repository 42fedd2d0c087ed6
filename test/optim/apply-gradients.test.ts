import t from 'tap';
import { LearningRateFunction, type Rate } from '../../src/base/rates/rate.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { scale } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias, rowDot } from '../../src/graph/ops/rows.js';
import { globalStep, group, increment, placeholder, VARIABLES, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import type { OptimizerMessage } from '../../src/sparse/config/config-messages.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import {
  AdadeltaOptimizer,
  AdagradOptimizer,
  AdamOptimizer,
  FtrlOptimizer,
  SgdOptimizer,
} from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';
import { MapTable } from '../sparse/map-table.js';

const OPTIMIZERS: Record<string, OptimizerMessage> = {
  sgd: SgdOptimizer({ learningRate: 0.5 }),
  adagrad: AdagradOptimizer({ learningRate: 0.3, initialAccumulatorValue: 0.2, weightDecayFactor: 0.01 }),
  ftrl: FtrlOptimizer({
    learningRate: 0.2,
    initialAccumulatorValue: 0.4,
    beta: 1,
    l1Regularization: 0.01,
    l2Regularization: 0.1,
  }),
  adam: AdamOptimizer({ learningRate: 0.1, weightDecayFactor: 0.01, useNesterov: true }),
};

/** loss = mean of x · bias, so the gradient of the bias is the mean of x. */
function linear(width: number, optimizer: OptimizerMessage, learningRate?: Rate) {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width });
  const bias = variable(graph, { name: 'bias', shape: [width], initial: () => new Float32Array(width) });
  const zeros = scale(x, 0);
  const loss = reduceMean(rowDot(x, addBias(zeros, bias)));
  const [gradient] = gradients([loss], [bias]) as [Tensor];
  const step = increment(globalStep(graph));
  const updates = graph.nameScope('train', () =>
    applyGradients([[gradient, bias]], optimizer, learningRate === undefined ? {} : { learningRate }),
  );
  return { graph, loss, gradient, train: group(graph, [step, ...updates]) as Op };
}

const WIDTH = 37;
const feed = (step: number) => ({
  x: Float32Array.from({ length: WIDTH * 4 }, (_, i) => Math.fround(Math.sin(i * 1.7 + step))),
});

/** The same model with a bias for each optimizer, called by its name. */
function linears() {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: WIDTH });
  const pairs = Object.entries(OPTIMIZERS).map(([name, optimizer]) => {
    const bias = variable(graph, { name, shape: [WIDTH], initial: () => new Float32Array(WIDTH) });
    const [gradient] = gradients([reduceMean(rowDot(x, addBias(scale(x, 0), bias)))], [bias]) as [Tensor];
    return { gradient, updates: applyGradients([[gradient, bias]], optimizer) };
  });
  const train = group(
    graph,
    pairs.flatMap(({ updates }) => updates),
  ) as Op;
  return { graph, gradients: pairs.map(({ gradient }) => gradient), train };
}

for (const backend of BACKENDS) {
  t.test(`configs of tables step variables as they step rows: ${backend}`, async (t) => {
    for (const threads of backend === 'wasm' ? [1, 5] : [3]) {
      const { graph, gradients, train } = linears();
      await withSession(graph, { backend, threads, deterministic: true }, async (session) => {
        const models = Object.values(OPTIMIZERS).map((optimizer) => {
          const config = defineTable('row', [{ dim: WIDTH, initializer: ZerosInitializer(), optimizer }]);
          return new MapTable(config, 0);
        });
        for (let step = 0; step < 5; step++) {
          const sums = await session.run([...gradients, train], feed(step));
          models.forEach((model, i) => {
            model.apply([{ ids: [0n], gradients: [[...(sums[i] as Float32Array)]] }]);
          });
        }
        Object.keys(OPTIMIZERS).forEach((name, i) => {
          const { weights, state } = models[i]!.rows.get(0n)!;
          t.same([...session.readVariable(name)], [...weights], `${name}, ${threads} threads`);
          const powers = name === 'adam' ? ['beta1_power', 'beta2_power'] : [];
          const slots = session.variableNames.filter((slot) => slot.startsWith(`${name}/`));
          t.same(
            [...slots, ...powers].flatMap((slot) => [...session.readVariable(slot)]),
            [...state],
          );
        });
      });
    }
  });
}

t.test('slots are variables of their own, named after theirs, and start as the optimizer says', async (t) => {
  const { graph } = linear(3, OPTIMIZERS.ftrl!);
  t.same(
    graph.getCollection(VARIABLES).map((slot) => slot.op.name),
    ['bias', 'global_step', 'bias/Ftrl', 'bias/Ftrl_1'],
  );
  await withSession(graph, { threads: 1 }, async (session) => {
    t.same(session.readVariable('bias/Ftrl'), new Float32Array(3).fill(0.4));
    t.same(session.readVariable('bias/Ftrl_1'), new Float32Array(3));
  });
  t.same(linear(3, OPTIMIZERS.sgd!).graph.getCollection(VARIABLES).length, 2);
});

t.test('a learning rate by step is asked with the steps done so far', async (t) => {
  const asked = new Set<number>();
  class Rising extends LearningRateFunction {
    override call(step: number): number {
      asked.add(step);
      return 1 + step / 10;
    }
  }
  const { graph, train } = linear(1, SgdOptimizer({ learningRate: 99 }), new Rising());
  await withSession(graph, { threads: 2 }, async (session) => {
    const x = { x: Float32Array.of(2, 2) };
    await session.run([train], x);
    t.same([...session.readVariable('bias')], [-2]);
    await session.run([train], x);
    t.same([...session.readVariable('bias')], [Math.fround(-4.2)]);
  });
  t.same([...asked], [0, 1]);
});

t.test('gradients that do not fit are refused', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 2 });
  const w = variable(graph, { name: 'w', shape: [2, 2], initial: () => new Float32Array(4) });
  const frozen = variable(graph, {
    name: 'frozen',
    shape: [2, 2],
    initial: () => new Float32Array(4),
    trainable: false,
  });
  const gram = matMul(x, x, { transposeA: true });
  const cases: [Tensor, Tensor, RegExp][] = [
    [gram, frozen, /frozen: it is not trainable/],
    [gram, x, /x:0 is no float variable/],
    [gram, globalStep(graph), /global_step:0 is no float variable/],
  ];
  for (const [gradient, target, message] of cases) {
    t.throws(() => applyGradients([[gradient, target]], SgdOptimizer()), { code: 'ML_GRAPH', message });
  }
  t.throws(() => applyGradients([[reduceMean(x), w]], SgdOptimizer()), {
    code: 'ML_DENSE_SHAPE',
    message: 'var and grad do not have the same shape[2,2] []',
  });
  const twice = [
    [gram, w],
    [gram, w],
  ] as const;
  t.throws(() => applyGradients(twice, SgdOptimizer()), { code: 'ML_GRAPH', message: /listed twice/ });
  t.throws(() => applyGradients([[gram, w]], AdadeltaOptimizer()), {
    code: 'ML_UNSUPPORTED',
    message: /adadelta for .* w/,
  });
});
