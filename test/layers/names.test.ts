import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { reshape } from '../../src/graph/ops/shape.js';
import { globalStep, increment, placeholder } from '../../src/graph/ops/state.js';
import { AttentionLayer } from '../../src/layers/attention-layer.js';
import { CinLayer } from '../../src/layers/cin-layer.js';
import { CrossLayer } from '../../src/layers/cross-layer.js';
import { DenseLayer } from '../../src/layers/dense-layer.js';
import { fieldAwareFm, fm } from '../../src/layers/factorization.js';
import { trainableVariables } from '../../src/layers/layer.js';
import { MlpLayer } from '../../src/layers/mlp-layer.js';
import { MmoeLayer } from '../../src/layers/mmoe-layer.js';
import { SenetLayer } from '../../src/layers/senet-layer.js';
import { TargetAttentionLayer } from '../../src/layers/target-attention-layer.js';
import { fillInitial } from '../../src/layers/weight-initializers.js';
import { withSession } from '../runtime/with-session.js';

t.test('variables are named as in TensorFlow', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 4 });
  const first = new DenseLayer(2);
  t.equal(first.name, 'dense');
  first.call(x);
  const second = new DenseLayer(2);
  second.call(x);
  second.call(x);
  t.equal(second.name, 'dense_1');
  graph.nameScope('tower', () => new MlpLayer([3, 1]).call(x));
  t.same(
    trainableVariables(graph).map(({ op }) => op.name),
    [
      ...['dense/kernel', 'dense/bias', 'dense_1/kernel', 'dense_1/bias'],
      ...['tower/mlp/dense/kernel', 'tower/mlp/dense/bias', 'tower/mlp/dense_1/kernel', 'tower/mlp/dense_1/bias'],
    ],
  );
  t.same(
    second.weights.map(({ op }) => op.name),
    ['dense_1/kernel', 'dense_1/bias'],
  );
});

t.test('an MlpLayer drops elements only in steps that train', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 4 });
  const out = new MlpLayer([64, 1], { dropout: 0.5, activation: 'linear' }).call(x);
  const step = increment(globalStep(graph));
  t.equal(globalStep(graph).op.name, 'global_step', 'whatever scope was open when it was made');
  await withSession(graph, { threads: 1, batchSize: 1 }, async (session) => {
    const feeds = { x: Float32Array.of(1, 2, 3, 4) };
    const [still] = await session.run([out], feeds);
    t.same((await session.run([out], feeds))[0], still);
    t.notSame((await session.run([out, step], feeds))[0], still);
  });
});

t.test('what does not fit is told with the name of the layer', async (t) => {
  const graph = new Graph();
  const [x, y] = [placeholder(graph, { name: 'x', width: 4 }), placeholder(graph, { name: 'y', width: 3 })];
  const s = reshape(placeholder(graph, { name: 's', width: 6 }), [3, 2]);
  const layer = new DenseLayer(2, { name: 'tower' });
  layer.call(x);
  const refusals: readonly (readonly [string, () => unknown])[] = [
    ['tower', () => layer.call(y)],
    ['tower', () => layer.call(placeholder(new Graph(), { name: 'x', width: 4 }))],
    ['dense', () => new DenseLayer(0)],
    ['mlp', () => new MlpLayer([])],
    ['mlp', () => new MlpLayer([2, 1], { norm: 'layer' }).call(s)],
    ['cross', () => new CrossLayer(1, { version: 1, rank: 2 })],
    ['cross', () => new CrossLayer(1).call(s)],
    ['cin', () => new CinLayer([2]).call(x)],
    ['fm', () => fm(x)],
    ['ffm', () => fieldAwareFm(s)],
    ['attention', () => new AttentionLayer({ heads: 2, keyDim: 2 }).call(x)],
    ['attention', () => new AttentionLayer({ heads: 2, keyDim: 2 }).call(s, { mask: x })],
    ['target_attention', () => new TargetAttentionLayer().call(x, s)],
    ['mmoe', () => new MmoeLayer({ experts: 0, tasks: 1, units: [2] })],
    ['senet', () => new SenetLayer().call(x)],
    ['dense', () => new DenseLayer(2, { activation: 'no' as 'relu' }).call(x)],
  ];
  for (const [name, refuse] of refusals) {
    t.throws(refuse, { code: 'ML_GRAPH', fields: { op: new RegExp(`^${name}`) } }, String(refuse));
  }
});

t.test('first values follow the initializer, the name and the seed', async (t) => {
  const limit = Math.sqrt(6 / 10);
  const glorot = fillInitial('glorot', [6, 4], 'a/kernel', 0);
  t.ok(glorot.every((value) => Math.abs(value) <= limit) && Math.max(...glorot) > limit / 2);
  t.same(fillInitial('glorot', [6, 4], 'a/kernel', 0), glorot);
  t.notSame(fillInitial('glorot', [6, 4], 'b/kernel', 0), glorot);
  t.notSame(fillInitial('glorot', [6, 4], 'a/kernel', 1), glorot);
  const he = fillInitial('he', [24, 4], 'a', 0);
  t.ok(he.every((value) => Math.abs(value) <= 0.5) && Math.max(...he) > 0.4);
  t.same([...fillInitial('zeros', [2], 'a', 0), ...fillInitial('ones', [2], 'a', 0)], [0, 0, 1, 1]);
});
