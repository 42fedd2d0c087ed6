import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { gelu, leakyRelu, prelu, silu, softplus, swish } from '../../src/graph/ops/activations.js';
import { columns, concatColumns } from '../../src/graph/ops/columns.js';
import { addN, mul, scale } from '../../src/graph/ops/elementwise.js';
import {
  focalLoss,
  hingeLoss,
  sigmoidCrossEntropyWithLogits,
  softmaxCrossEntropyWithLogits,
  sparseSoftmaxCrossEntropyWithLogits,
  squaredError,
  weightedCrossEntropyWithLogits,
} from '../../src/graph/ops/losses.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { l2Normalize, layerNorm } from '../../src/graph/ops/norms.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { scaleColumns } from '../../src/graph/ops/rows.js';
import { placeholder, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import type { FeedMap } from '../../src/runtime/session/feed-writer.js';
import type { Session } from '../../src/runtime/session/session.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

const ROWS = 5;

function inputs() {
  const graph = new Graph();
  const next = stream(7);
  const random = (count: number) => () => Float32Array.from({ length: count }, () => next() * 2 - 1);
  return {
    graph,
    x: placeholder(graph, { name: 'x', width: 3 }),
    y: placeholder(graph, { name: 'y', width: 3 }),
    logit: placeholder(graph, { name: 'logit' }),
    weight: placeholder(graph, { name: 'weight' }),
    label: placeholder(graph, { name: 'label' }),
    share: placeholder(graph, { name: 'share', width: 3 }),
    index: placeholder(graph, { name: 'index' }),
    narrow: variable(graph, { name: 'narrow', shape: [3, 1], initial: random(3) }),
    gain: variable(graph, { name: 'gain', shape: [3], initial: random(3) }),
    bias: variable(graph, { name: 'bias', shape: [3], initial: random(3) }),
  };
}
type Inputs = ReturnType<typeof inputs>;

const OPS: Readonly<Record<string, (i: Inputs) => Tensor>> = {
  Gelu: ({ x }) => gelu(x),
  'Gelu by tanh': ({ x }) => gelu(x, { approximate: true }),
  Swish: ({ x }) => swish(x),
  'Silu of a column beside others': ({ x }) => concatColumns([silu(columns(x, 1, 2)), x]),
  Softplus: ({ x }) => softplus(x),
  LeakyRelu: ({ x }) => leakyRelu(x, { slope: 0.3 }),
  'LeakyRelu, one term of several': ({ x, y }) => addN([leakyRelu(x), mul(x, y), leakyRelu(y)]),
  Prelu: ({ x, gain }) => prelu(x, gain),
  ScaleColumns: ({ x, gain }) => scaleColumns(x, gain),
  LayerNorm: ({ x, gain, bias }) => layerNorm(x, gain, bias),
  'LayerNorm twice over': ({ x, gain, bias }) => layerNorm(layerNorm(x, gain, bias), bias, gain, { epsilon: 0.1 }),
  L2Normalize: ({ x }) => l2Normalize(x),
  'L2Normalize below its epsilon': ({ x }) => l2Normalize(x, { epsilon: 100 }),
  WeightedCrossEntropy: ({ logit, label }) => weightedCrossEntropyWithLogits(logit, label, { posWeight: 2.5 }),
  'CrossEntropy with weights': ({ logit, label, weight }) =>
    sigmoidCrossEntropyWithLogits(logit, label, { weights: weight }),
  'Hinge of a matrix of one column': ({ x, narrow, label, weight }) =>
    hingeLoss(matMul(x, narrow), label, { weights: weight }),
  Focal: ({ logit, label }) => focalLoss(logit, label),
  'Focal without balance': ({ logit, label, weight }) =>
    focalLoss(logit, label, { gamma: 1.5, alpha: null, weights: weight }),
  SoftmaxCrossEntropy: ({ x, share }) => softmaxCrossEntropyWithLogits(x, share),
  'SoftmaxCrossEntropy of classes': ({ x, index, weight }) =>
    sparseSoftmaxCrossEntropyWithLogits(x, index, { weights: weight }),
  SquaredError: ({ logit, label }) => squaredError(logit, label),
  'SquaredError of rows': ({ x, y, weight }) => squaredError(x, y, { weights: weight }),
};
const TARGETS = ['x', 'y', 'logit', 'weight', 'narrow', 'gain', 'bias'] as const;

/** Mean of the output with another weight per element. */
function lossOf({ y }: Inputs, out: Tensor): Tensor {
  const weights = columns(concatColumns([y, y]), 0, out.columns);
  return scale(reduceMean(mul(out.columns === 1 ? columns(out, 0, 1) : out, weights)), 4);
}

function feedsOf() {
  const next = stream(3);
  // Away from zero and one, where rectifiers and hinges have their corners.
  const random = (count: number) =>
    Float32Array.from({ length: count }, () => (next() < 0.5 ? -1 : 1) * (0.3 + next() * 0.6));
  return {
    x: random(ROWS * 3),
    y: random(ROWS * 3),
    logit: random(ROWS),
    weight: random(ROWS),
    label: Float32Array.from({ length: ROWS }, () => Math.round(next())),
    share: Float32Array.from({ length: ROWS * 3 }, () => next()),
    index: Float32Array.from({ length: ROWS }, () => Math.floor(next() * 3)),
  };
}

const STEP = 0.02;
const TOLERANCE = 1e-3;

/** Where the gradients of `loss` by placeholders and variables differ from differences; nothing when all agree. */
async function differences(
  session: Session,
  loss: Tensor,
  targets: readonly Tensor[],
  feeds: FeedMap,
): Promise<string[]> {
  const grads = gradients([loss], targets);
  const wrong: string[] = [];
  const at = async () => (await session.run([loss], feeds))[0] as number;
  for (const [index, { op }] of targets.entries()) {
    const values = (feeds[op.name] ?? session.readVariable(op.name)) as Float32Array;
    const grad = grads[index];
    const found = grad === undefined ? new Float32Array(values.length) : (await session.run([grad], feeds))[0];
    for (let i = 0; i < values.length; i++) {
      const kept = values[i]!;
      values[i] = kept + STEP;
      const above = await at();
      values[i] = kept - STEP;
      const numeric = (above - (await at())) / (2 * STEP);
      values[i] = kept;
      const analytic = (found as Float32Array)[i]!;
      if (Math.abs(analytic - numeric) <= TOLERANCE * Math.max(1, Math.abs(numeric))) continue;
      wrong.push(`${op.name}[${i}]: ${analytic}, by differences ${numeric}`);
    }
  }
  return wrong;
}

for (const backend of BACKENDS) {
  t.test(`gradients of row-wise ops equal central differences (${backend})`, async (t) => {
    const i = inputs();
    const feeds = feedsOf();
    await withSession(i.graph, { backend, memoryBytes: 128 << 20 }, async (session) => {
      for (const [name, op] of Object.entries(OPS)) {
        const targets = TARGETS.map((key) => i[key]);
        t.same(await differences(session, lossOf(i, op(i)), targets, feeds), [], name);
      }
    });
  });
}

t.test('values are those of the definitions', async (t) => {
  const i = inputs();
  const feeds = feedsOf();
  const softmax = (row: readonly number[]) => {
    const total = row.reduce((sum, v) => sum + Math.exp(v), 0);
    return row.map((v) => Math.exp(v) / total);
  };
  const rowOf = (key: 'x' | 'y' | 'share', r: number) => [...feeds[key].slice(3 * r, 3 * r + 3)];
  const sigmoid = (v: number) => 1 / (1 + Math.exp(-v));
  const expected: [string, Tensor, (r: number) => number[]][] = [
    ['swish', swish(i.x), (r) => rowOf('x', r).map((v) => v * sigmoid(v))],
    ['softplus', softplus(i.x), (r) => rowOf('x', r).map((v) => Math.log(1 + Math.exp(v)))],
    ['l2', l2Normalize(i.x), (r) => rowOf('x', r).map((v) => v / Math.hypot(...rowOf('x', r)))],
    [
      'classes',
      sparseSoftmaxCrossEntropyWithLogits(i.x, i.index),
      (r) => [-Math.log(softmax(rowOf('x', r))[feeds.index[r]!]!)],
    ],
    [
      'shares',
      softmaxCrossEntropyWithLogits(i.x, i.share),
      (r) => [softmax(rowOf('x', r)).reduce((sum, p, c) => sum - rowOf('share', r)[c]! * Math.log(p), 0)],
    ],
    [
      'focal',
      focalLoss(i.logit, i.label, { gamma: 2, alpha: 0.3 }),
      (r) => {
        const p = feeds.label[r] === 1 ? sigmoid(feeds.logit[r]!) : 1 - sigmoid(feeds.logit[r]!);
        return [(feeds.label[r] === 1 ? 0.3 : 0.7) * -Math.log(p) * (1 - p) ** 2];
      },
    ],
    [
      'hinge',
      hingeLoss(i.logit, i.label, { weights: i.weight }),
      (r) => [feeds.weight[r]! * Math.max(0, 1 - (2 * feeds.label[r]! - 1) * feeds.logit[r]!)],
    ],
    [
      'weighted',
      weightedCrossEntropyWithLogits(i.logit, i.label, { posWeight: 3 }),
      (r) => {
        const p = sigmoid(feeds.logit[r]!);
        return [-3 * feeds.label[r]! * Math.log(p) - (1 - feeds.label[r]!) * Math.log(1 - p)];
      },
    ],
    [
      'squares',
      squaredError(i.x, i.y),
      (r) => [rowOf('x', r).reduce((sum, v, c) => sum + (v - rowOf('y', r)[c]!) ** 2 / 3, 0)],
    ],
  ];
  await withSession(i.graph, {}, async (session) => {
    const found = await session.run(
      expected.map(([, tensor]) => tensor),
      feeds,
    );
    for (const [index, [name, , byHand]] of expected.entries()) {
      const wanted = Array.from({ length: ROWS }, (_, r) => byHand(r)).flat();
      const off = wanted.map((value, k) => Math.abs(value - (found[index] as Float32Array)[k]!));
      t.ok(Math.max(...off) < 1e-6, name, { off });
    }
  });
});

t.test('a computed index that is no class gives a NaN loss, which training stops on', async (t) => {
  const i = inputs();
  const loss = sparseSoftmaxCrossEntropyWithLogits(i.x, scale(i.index, 1));
  const feeds = { ...feedsOf(), index: Float32Array.of(0, 3, -1, 0.5, 2) };
  await withSession(i.graph, {}, async (session) => {
    const [losses] = await session.run([loss], feeds);
    t.same([...(losses as Float32Array)].map(Number.isNaN), [false, true, true, true, false]);
  });
});

t.test('shapes that do not fit are refused with the name of the op', async (t) => {
  const i = inputs();
  const ids = raggedPlaceholder(i.graph, { name: 'ids', valuesPerRow: 1 });
  const bad: [string, () => Tensor, RegExp][] = [
    ['gelu', () => gelu(ids), /int64/],
    ['swish', () => swish(i.gain), /row per example/],
    ['LeakyRelu', () => leakyRelu(i.x, { slope: Number.NaN }), /slope/],
    ['Prelu', () => prelu(i.logit, i.gain), /slope per column/],
    ['ScaleColumns', () => scaleColumns(i.x, i.y), /factor per column/],
    ['LayerNorm', () => layerNorm(i.x, i.narrow, i.bias), /gain per column/],
    ['LayerNorm', () => layerNorm(i.x, i.gain, i.bias, { epsilon: -1 }), /epsilon/],
    ['L2Normalize', () => l2Normalize(i.bias), /row per example/],
    ['hinge', () => hingeLoss(i.x, i.label), /one logit per example/],
    ['focal', () => focalLoss(i.logit, i.y), /one label per example/],
    ['focal', () => focalLoss(i.logit, i.label, { gamma: -1 }), /factors/],
    ['weightedBce', () => weightedCrossEntropyWithLogits(i.logit, i.label, { weights: i.x }), /one weight per example/],
    ['SoftmaxCrossEntropyWithLogits', () => softmaxCrossEntropyWithLogits(i.x, i.label), /do not fit/],
    ['SoftmaxCrossEntropyWithLogits', () => sparseSoftmaxCrossEntropyWithLogits(i.x, i.y), /one class per example/],
    ['squaredError', () => squaredError(i.gain, i.bias), /row per example/],
  ];
  for (const [op, build, reason] of bad) t.throws(build, { code: 'ML_GRAPH', fields: { op, reason } }, op);
});
