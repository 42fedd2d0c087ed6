/** @file Builders of ops on the sizes after the batch, of layers, and of what lookups are used for. */
import type { Tensor } from '../../src/graph/graph.js';
import * as ml from '../../src/index.js';
import type { Builders } from './builders-rows.js';
import type { Workshop } from './workshop.js';

const sizesOf = ({ spec }: Tensor): number[] => spec.shape.slice(1) as number[];

/** An inner axis of x, counted from the batch. */
const axisOf = (shop: Workshop, x: Tensor): number => 1 + shop.random.below(sizesOf(x).length);

/** Two tensors with equal positions of equal width. */
function fields(shop: Workshop, width: number): Tensor {
  const x = shop.pick(({ spec }) => spec.shape.length === 3 && spec.shape[2] === width);
  const n = shop.random.of([1, 2, 3]);
  return x ?? ml.ops.reshape(shop.fitted(n * width === 1 ? 2 : n * width), [-1, width]);
}

const activations = ['relu', 'tanh', 'gelu', 'swish', 'softplus', 'leakyRelu', 'sigmoid', 'linear'] as const;

export const INNER_BUILDERS: Builders = {
  reshape: (shop) => {
    const x = shop.any();
    const n = [2, 3, 4, 5].find((size) => x.columns % size === 0 && shop.random.chance(0.6)) ?? 1;
    return ml.ops.reshape(x, [n, -1]);
  },
  transposeInner: (shop) => ml.ops.transposeInner(shop.cube()),
  sliceInner: (shop) => {
    const x = shop.cube();
    const axis = axisOf(shop, x);
    const n = sizesOf(x)[axis - 1]!;
    const start = shop.random.below(n);
    return ml.ops.sliceInner(x, start, start + 1 + shop.random.below(n - start), { axis });
  },
  splitInner: (shop) => {
    const x = shop.cube();
    const axis = axisOf(shop, x);
    const n = sizesOf(x)[axis - 1]!;
    return ml.ops.splitInner(x, n % 2 === 0 ? 2 : n, { axis }).slice(0, 2);
  },
  concatInner: (shop) => {
    const x = shop.cube();
    return ml.ops.concatInner([x, shop.like(x), ml.ops.tanh(x)], { axis: axisOf(shop, x) });
  },
  stack: (shop) => {
    const x = shop.any();
    return ml.ops.stack([x, shop.like(x), shop.like(x)].slice(0, 2 + shop.random.below(2)));
  },
  unstack: (shop) => ml.ops.unstack(shop.cube()).slice(0, 2),
  gatherInner: (shop) => {
    const x = shop.cube();
    const axis = axisOf(shop, x);
    const n = sizesOf(x)[axis - 1]!;
    return ml.ops.gatherInner(
      x,
      Array.from({ length: 1 + shop.random.below(4) }, () => shop.random.below(n)),
      { axis },
    );
  },
  sumInner: (shop) => {
    const x = shop.cube();
    return shop.random.of([ml.ops.sumInner, ml.ops.meanInner])(x, { axis: axisOf(shop, x) });
  },
  maxInner: (shop) => {
    const x = shop.cube();
    return ml.ops.maxInner(x, { axis: axisOf(shop, x) });
  },
  broadcastInner: (shop) => {
    const x = shop.pick(({ spec }) => spec.shape.length === 2) ?? shop.feeds.b!;
    return ml.ops.broadcastInner(x, shop.random.of([2, 3]), { axis: shop.random.of([1, 2, -1]) });
  },
  shared: (shop) => {
    const x = shop.random.chance(0.6) ? shop.cube() : shop.matrix();
    const sizes = sizesOf(x);
    const v = shop.variable(shop.random.chance(0.5) ? sizes : sizes.slice(-1));
    return shop.random.chance(0.5) ? ml.ops.addShared(x, v) : ml.ops.mulShared(x, v);
  },
  scaleGroups: (shop) => {
    const x = shop.cube();
    return ml.ops.scaleGroups(ml.ops.meanInner(shop.like(x), { axis: -1 }), x);
  },
  groupDot: (shop) => {
    const x = shop.cube();
    return ml.ops.groupDot(x, shop.like(x));
  },
  softmax: (shop) => ml.ops.softmax(shop.random.chance(0.5) ? shop.cube() : shop.matrix(2)),
  softmaxMasked: (shop) => {
    const x = shop.cube();
    const width = sizesOf(x)[1]!;
    const of = shop.random.chance(0.5) ? x : shop.fitted(Math.max(2, width));
    if (of !== x && of.columns !== width) return undefined;
    return ml.ops.softmax(x, { mask: ml.ops.stopGradient(ml.ops.greaterEqual(of, 0)) });
  },
  topK: (shop) => {
    const x = shop.random.chance(0.5) ? shop.cube() : shop.matrix(2);
    const { values } = ml.ops.topK(x, 1 + shop.random.below(sizesOf(x).at(-1)!));
    return values;
  },
  topIndices: (shop) => {
    const { values, indices } = ml.ops.topK(shop.matrix(3), 2);
    return ml.ops.mul(values, ml.ops.stopGradient(ml.ops.scale(indices, 0.25)));
  },
  batchMatMul: (shop) => {
    const x = shop.cube();
    const y = shop.like(x);
    return shop.random.of([
      () => ml.ops.batchMatMul(x, y, { transposeB: true }),
      () => ml.ops.batchMatMul(x, y, { transposeA: true }),
      () => ml.ops.batchMatMul(x, ml.ops.transposeInner(y)),
      () => ml.ops.batchMatMul(ml.ops.transposeInner(x), ml.ops.transposeInner(y), { transposeA: true }),
      () => ml.ops.batchMatMul(ml.ops.transposeInner(x), x, { transposeA: true, transposeB: true }),
    ])();
  },
  matMulInner: (shop) => {
    const x = shop.cube();
    return ml.ops.matMulInner(x, shop.variable([sizesOf(x)[1]!, shop.random.of([1, 3, 5])], 0.6));
  },
  fmPairs: (shop) => {
    const x = shop.random.chance(0.5) ? shop.cube() : shop.matrix(2);
    return ml.ops.fmPairs(x, { dim: x.spec.shape.length === 3 ? undefined : shop.random.chance(0.5) ? 1 : x.columns });
  },
  fieldAwareFm: (shop) => ml.nn.fieldAwareFm(ml.ops.reshape(shop.fitted(8), [2, 2, 2])),
  fm: (shop) => {
    const x = shop.matrix();
    return ml.nn.fm([x, shop.like(x), ml.ops.tanh(x)]);
  },
  ffm: (shop) => {
    const dim = shop.random.of([1, 2, 3]);
    const side = () => shop.fitted(Math.max(2, dim * (1 + shop.random.below(3))));
    const [left, right] = [side(), side()];
    if (left.columns % dim !== 0 || right.columns % dim !== 0) return undefined;
    return ml.ops.ffm(left, right, { dim, kind: shop.random.of(['multiply', 'dot'] as const) });
  },
  cin: (shop) => {
    const width = shop.random.of([2, 3]);
    const [left, right] = [fields(shop, width), fields(shop, width)];
    const pairs = sizesOf(left)[0]! * sizesOf(right)[0]!;
    return pairs > 12 ? undefined : ml.ops.cin(left, right, shop.variable([pairs, shop.random.of([1, 3])], 0.5));
  },

  dense: (shop) =>
    new ml.nn.DenseLayer(shop.width(), { activation: shop.random.of(activations), seed: 3 }).call(shop.matrix()),
  denseInner: (shop) => new ml.nn.DenseLayer(3, { activation: shop.random.of(activations) }).call(shop.cube()),
  mlp: (shop) =>
    new ml.nn.MlpLayer([5, 4, shop.random.of([1, 3])], {
      activation: shop.random.of(activations),
      ...(shop.random.chance(0.5) && { norm: 'layer' as const }),
      ...(shop.random.chance(0.3) && { dropout: 0.2 }),
    }).call(shop.matrix()),
  cross: (shop) =>
    new ml.nn.CrossLayer(2, shop.random.of([{ version: 1 as const }, { version: 2 as const }, { rank: 2 }])).call(
      shop.matrix(),
    ),
  cinLayer: (shop) => new ml.nn.CinLayer([2, 2]).call(fields(shop, 2)),
  senet: (shop) => new ml.nn.SenetLayer({ reduction: 2 }).call(shop.cube()),
  mmoe: (shop) => new ml.nn.MmoeLayer({ experts: 2, tasks: 2, units: [4, 3], activation: 'tanh' }).call(shop.matrix()),
  attention: (shop) => {
    const [sequence] = shop.sequences;
    const query = sequence?.tensor ?? shop.cube();
    const attention = new ml.nn.AttentionLayer({ heads: 2, keyDim: shop.random.of([1, 3]) });
    return attention.call(query, sequence === undefined ? {} : { mask: ml.ops.sequenceMask(sequence.ids, sequence.n) });
  },
  targetAttention: (shop) => {
    const [sequence] = shop.sequences;
    const keys = sequence?.tensor ?? shop.cube();
    const width = sizesOf(keys)[1]!;
    if (width < 2) return undefined;
    const attention = new ml.nn.TargetAttentionLayer({ hidden: [4], softmax: shop.random.chance(0.5) });
    const mask = sequence && ml.ops.sequenceMask(sequence.ids, sequence.n);
    return attention.call(shop.fitted(width), keys, { mask });
  },
  sequenceLengths: (shop) => ml.ops.scale(ml.ops.sequenceLengths(shop.feeds.r!, 4), 0.25),

  /** The first layer of most models: a product of lookups side by side, whose rows repeat. */
  productOfLookups: (shop) => {
    if (shop.singles.length === 0) return undefined;
    const parts = [...shop.singles.slice(0, 3), ...(shop.random.chance(0.6) ? [shop.feeds.b!] : [])];
    const wide = ml.ops.concatColumns(parts);
    const w = shop.variable([wide.columns, shop.random.of([16, 17, 33, 40])], 0.3);
    const product = wide.spec.shape.length === 1 ? undefined : ml.ops.matMul(wide, w);
    return product && ml.ops.tanh(product);
  },
  columnsOfLookups: (shop) => {
    const wide = shop.singles.find(({ columns }) => columns > 2);
    if (wide === undefined) return undefined;
    const middle = 1 + shop.random.below(wide.columns - 1);
    return [ml.ops.columns(wide, 0, middle), ml.ops.columns(wide, middle, wide.columns)];
  },
  /** x, and what is made of it, both in one sum: a gradient behind another. */
  residual: (shop) => {
    const x = shop.any();
    return ml.ops.add(x, ml.ops.tanh(ml.ops.scale(ml.ops.add(ml.ops.relu(x), x), 0.5)));
  },
  deepChain: (shop) => {
    let x = shop.any();
    for (let i = 0; i < 12; i++) x = i % 3 === 2 ? ml.ops.add(x, 0.125) : ml.ops.tanh(ml.ops.scale(x, 0.9));
    return x;
  },
};
