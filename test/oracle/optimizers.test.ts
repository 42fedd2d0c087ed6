import t from 'tap';
import * as dense from '../../src/compat/optimizers.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { group, placeholder, variable } from '../../src/graph/ops/state.js';
import * as ml from '../../src/index.js';
import type { Optimizer } from '../../src/optim/optimizer.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';
import { distance, numbers } from './fixture.js';

const RMSPROP = { learningRate: 0.01, beta2: 0.9, epsilon: 1e-3 };
const OPTIMIZERS: Readonly<Record<string, () => Optimizer>> = {
  sgd: () => new dense.GradientDescentOptimizer({ learningRate: 0.1 }),
  momentum: () => new dense.MomentumOptimizer({ learningRate: 0.1, momentum: 0.9 }),
  nesterov: () => new dense.MomentumOptimizer({ learningRate: 0.1, momentum: 0.9, useNesterov: true }),
  adagrad: () => new dense.AdagradOptimizer({ learningRate: 0.3 }),
  adam: () => new dense.AdamOptimizer({ learningRate: 0.05 }),
  ftrl: () => new dense.FtrlOptimizer({ learningRate: 0.2 }),
  'ftrl regularized': () =>
    new dense.FtrlOptimizer({
      learningRate: 0.2,
      l1RegularizationStrength: 0.1,
      l2RegularizationStrength: 0.05,
      initialAccumulatorValue: 0.3,
      beta: 0.5,
    }),
  rmsprop: () => new dense.RmspropOptimizer({ ...RMSPROP, beta1: 0 }),
  'rmsprop with momentum': () => new dense.RmspropOptimizer({ ...RMSPROP, beta1: 0.9 }),
};

const TOLERANCE = 2e-6;

for (const backend of BACKENDS) {
  t.test(`five steps of every optimizer end where those of TensorFlow do (${backend})`, async (t) => {
    const { initial, gradients, results } = numbers.optimizers;
    t.same(Object.keys(results).sort(), Object.keys(OPTIMIZERS).sort(), 'all of them are compared');
    const graph = new Graph();
    const g = placeholder(graph, { name: 'g', width: initial.length });
    const cases = Object.entries(OPTIMIZERS).map(([name, make]) => {
      const optimizer = make();
      const target = variable(graph, {
        name: name.replaceAll(' ', '_'),
        shape: [initial.length],
        initial: () => Float32Array.from(initial),
      });
      // The gradient of a sum of products with what is fed is what is fed.
      const loss = reduceMean(rowDot(g, ml.ops.broadcastTo(target, ['batch', initial.length])));
      return { name, optimizer, target, train: optimizer.minimize(loss, { varList: [target] }) };
    });
    const train = group(
      graph,
      cases.map(({ train }) => train),
    ) as Op;
    await withSession(graph, { backend, batchSize: 1, threads: 2 }, async (session) => {
      for (const gradient of gradients) await session.run([train], { g: Float32Array.from(gradient) });
      const read = ({ op }: Tensor) => session.readVariable(op.name) as Float32Array;
      for (const { name, optimizer, target } of cases) {
        const { after, slots } = results[name]!;
        const off = distance(read(target), after);
        t.ok(off < TOLERANCE, `${name}: ${off}`);
        for (const [slot, values] of Object.entries(slots)) {
          const off = distance(read(optimizer.getSlot(target, slot)!), values);
          t.ok(off < TOLERANCE, `${name}, ${slot}: ${off}`);
        }
      }
    });
  });
}

t.test('metrics are those of TensorFlow, or of their formula', async (t) => {
  const { labels, scores, weights, order, groups, grades } = numbers.metrics as Record<string, number[]>;
  const value = (name: ml.metrics.MetricName, weighted: boolean) => {
    const metric = ml.metrics.createMetric(name);
    // In two portions, as from two batches.
    for (const [from, to] of [
      [0, 17],
      [17, labels!.length],
    ] as const) {
      metric.update(labels!.slice(from, to), scores!.slice(from, to), weighted ? weights!.slice(from, to) : undefined);
    }
    return metric.result()!;
  };
  const ranked = (name: ml.metrics.MetricName) => {
    const metric = ml.metrics.createMetric(name);
    metric.update(grades!, order!, undefined, groups!);
    return metric.result()!;
  };
  const found: Record<string, number> = {
    auc: value('auc', false),
    weightedAuc: value('auc', true),
    thresholdAuc: value('thresholdAuc', false),
    thresholdAucWeighted: value('thresholdAuc', true),
    rmse: value('rmse', true),
    mae: value('mae', true),
    accuracy: value('accuracy', true),
    logLoss: value('logLoss', true),
    'ndcg@3': ranked('ndcg@3'),
    'ndcg@10': ranked('ndcg@10'),
  };
  for (const [name, number] of Object.entries(found)) {
    const off = Math.abs(number - (numbers.metrics[name] as number));
    t.ok(off < 1e-6, `${name}: ${number}, off by ${off}`);
  }
});
