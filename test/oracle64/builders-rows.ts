/** @file Builders of elementwise ops, of ops on rows, and of statistics of the batch. */
import type { Tensor } from '../../src/graph/graph.js';
import { assembleColumns } from '../../src/graph/ops/columns.js';
import * as ml from '../../src/index.js';
import type { Workshop } from './workshop.js';

export type Builder = (shop: Workshop) => Tensor | readonly Tensor[] | undefined;
export type Builders = Readonly<Record<string, Builder>>;

/** Above zero, whatever x is. */
const positive = (x: Tensor): Tensor => ml.ops.add(ml.ops.square(x), 0.25);
const batchMean = (x: Tensor): Tensor => ml.ops.batchSum(ml.ops.reduceMean(x, { axis: 'batch' }));

/** Something that can be repeated over the rows or columns of x, or of its shape. */
function beside(shop: Workshop, x: Tensor): Tensor | number {
  const sizes = x.spec.shape.slice(1) as number[];
  return shop.random.of<() => Tensor | number>([
    () => shop.like(x),
    () => shop.column(),
    () => shop.variable(sizes, 1),
    () => shop.variable([], 1),
    () => shop.factor(),
    () => batchMean(shop.like(x)),
    () => ml.ops.batchSum(ml.ops.reduceMean(shop.any())),
    () => ml.ops.constant(shop.graph, shop.random.floats(x.columns), { shape: sizes }),
  ])();
}

const binary = (make: (x: Tensor, y: Tensor | number) => Tensor): Builder => {
  return (shop) => {
    const x = shop.any();
    return make(x, beside(shop, x));
  };
};

const unary =
  (make: (x: Tensor) => Tensor): Builder =>
  (shop) =>
    make(shop.any());

export const ROW_BUILDERS: Builders = {
  addN: (shop) => {
    const x = shop.any();
    return ml.ops.addN([x, shop.like(x), shop.like(x), x].slice(0, 2 + shop.random.below(3)));
  },
  add: binary(ml.ops.add),
  sub: binary((x, y) => ml.ops.sub(x, y)),
  subFrom: binary((x, y) => ml.ops.sub(y, x)),
  mul: binary((x, y) => ml.ops.mul(x, y)),
  div: binary((x, y) => ml.ops.div(x, typeof y === 'number' ? y : positive(y))),
  divInto: binary((x, y) => ml.ops.div(y, positive(x))),
  maximum: binary(ml.ops.maximum),
  minimum: binary(ml.ops.minimum),
  chosen: binary((x, y) => ml.ops.mul(x, ml.ops.greaterEqual(x, y))),
  equals: binary((x, y) => ml.ops.sub(x, ml.ops.equal(x, y))),
  scale: (shop) => ml.ops.scale(shop.any(), shop.factor()),
  neg: unary(ml.ops.neg),
  square: unary(ml.ops.square),
  abs: unary(ml.ops.abs),
  sqrt: unary((x) => ml.ops.sqrt(positive(x))),
  exp: unary((x) => ml.ops.exp(ml.ops.minimum(x, 1.5))),
  log: unary((x) => ml.ops.log(positive(x))),
  log1p: unary((x) => ml.ops.log1p(ml.ops.maximum(x, -0.7))),
  sign: unary((x) => ml.ops.mul(ml.ops.sign(x), x)),
  clipByValue: (shop) => ml.ops.clipByValue(shop.any(), -0.7, shop.random.of([0.5, 0.7])),
  clipSharedByValue: (shop) => {
    const width = 1100;
    const wide = ml.ops.clipByValue(shop.variable([width], 1), -0.6, 0.6);
    shop.shared.push(ml.ops.scale(ml.ops.reduceSum(ml.ops.square(wide)), 1 / width));
    return undefined;
  },
  stopGradient: (shop) => {
    const x = shop.any();
    return ml.ops.add(ml.ops.mul(x, ml.ops.stopGradient(shop.like(x))), x);
  },
  constantFeature: (shop) => ml.ops.mul(shop.any(), ml.ops.cast(ml.ops.globalStep(shop.graph), 'float32')),
  castIds: (shop) => ml.ops.scale(ml.ops.cast(ml.ops.columns(shop.feeds.tiny!, 0, 2), 'float32'), 0.25),

  relu: unary(ml.ops.relu),
  sigmoid: unary(ml.ops.sigmoid),
  tanh: unary(ml.ops.tanh),
  gelu: unary((x) => ml.ops.gelu(x)),
  geluTanh: unary((x) => ml.ops.gelu(x, { approximate: true })),
  swish: unary(ml.ops.swish),
  softplus: unary(ml.ops.softplus),
  leakyRelu: (shop) => ml.ops.leakyRelu(shop.any(), { slope: shop.random.of([0.2, 0.01, 1.5]) }),
  prelu: (shop) => {
    const x = shop.any();
    return ml.ops.prelu(x, shop.variable([x.columns], 0.5));
  },
  scaleColumns: (shop) => {
    const x = shop.any();
    return ml.ops.scaleColumns(x, shop.variable([x.columns]));
  },
  addBias: (shop) => {
    const x = shop.any();
    return ml.ops.addBias(x, shop.variable([x.columns]));
  },
  dropout: (shop) => ml.ops.dropout(shop.any(), { rate: shop.random.of([0.3, 0.5]) }),
  dropoutAlways: (shop) => ml.ops.dropout(shop.any(), { rate: 0.4, training: true }),
  layerNorm: (shop) => {
    const x = shop.matrix(2);
    return ml.ops.layerNorm(x, shop.variable([x.columns]), shop.variable([x.columns]), {
      epsilon: shop.random.of([1e-3, 0.1]),
    });
  },
  l2Normalize: (shop) => ml.ops.l2Normalize(shop.any(), { epsilon: shop.random.of([1e-4, 0.5]) }),
  batchNorm: (shop) =>
    ml.ops.batchNorm(shop.random.chance(0.3) ? shop.column() : shop.matrix(), { epsilon: 0.1, momentum: 0.9 }),
  batchNormPlain: (shop) =>
    ml.ops.batchNorm(shop.matrix(), { epsilon: 0.2, center: false, scale: false, training: true }),
  dice: (shop) => {
    const x = shop.matrix(2);
    return ml.ops.dice(x, shop.variable([x.columns], 0.5), { epsilon: 0.1 });
  },
  ifTraining: (shop) => {
    const x = shop.matrix();
    return ml.ops.mul(x, ml.ops.ifTraining(shop.variable([x.columns]), shop.variable([x.columns])));
  },

  matMul: (shop) => {
    const x = shop.matrix();
    return ml.ops.matMul(x, shop.variable([x.columns, shop.width()], 1 / Math.sqrt(x.columns)));
  },
  matMulTransposed: (shop) => {
    const x = shop.matrix();
    return ml.ops.matMul(x, shop.variable([shop.width(), x.columns], 1 / Math.sqrt(x.columns)), { transposeB: true });
  },
  matMulOfShared: (shop) => {
    const x = shop.matrix();
    const [k, n] = [shop.width(), shop.width()];
    const [left, right] = [shop.variable([k, x.columns], 0.6), shop.variable([n, k], 0.6)];
    return ml.ops.matMul(x, ml.ops.matMul(left, right, { transposeA: true, transposeB: true }));
  },
  /** A product over the batch: a sum that is completed and used by every example. */
  gram: (shop) => {
    const [x, y] = [shop.matrix(), shop.matrix()];
    const sums = ml.ops.scale(ml.ops.matMul(x, y, { transposeA: true }), 0.125);
    return ml.ops.matMul(x, ml.ops.batchSum(sums));
  },
  weightsTwice: (shop) => {
    const x = shop.matrix();
    const w = shop.variable([x.columns, x.columns], 1 / Math.sqrt(x.columns));
    return ml.ops.matMul(ml.ops.tanh(ml.ops.matMul(x, w)), w);
  },
  rowDot: (shop) => {
    const x = shop.any();
    return ml.ops.rowDot(x, shop.like(x));
  },
  scaleRows: (shop) => ml.ops.scaleRows(shop.column(), shop.any()),
  columns: (shop) => {
    const x = shop.matrix(2);
    const start = shop.random.below(x.columns);
    const end = start + 1 + shop.random.below(x.columns - start);
    return [ml.ops.columns(x, start, end), ml.ops.columns(x, 0, end)];
  },
  concat: (shop) => ml.ops.concatColumns([shop.any(), shop.any(), shop.any()].slice(0, 2 + shop.random.below(2))),
  assembleColumns: (shop) => {
    const wide = shop.feeds.f!;
    const parts = [shop.any(), shop.any(), shop.any()].filter(({ columns }) => columns <= wide.columns);
    if (parts.length === 0) return undefined;
    return assembleColumns(
      wide,
      parts.map((grad) => ({ start: shop.random.below(wide.columns - grad.columns + 1), grad })),
    );
  },
  broadcastTo: (shop) => {
    const x = shop.any();
    const from = shop.random.of([() => shop.column(), () => shop.variable([x.columns]), () => ml.ops.reduceMean(x)])();
    return ml.ops.mul(x, ml.ops.broadcastTo(from, x.spec.shape));
  },
  sharedMatrices: (shop) => {
    const [n, d] = [shop.width(), shop.width()];
    const a = shop.variable([n, d], 0.5);
    const other = shop.random.of([
      () => shop.variable([d]),
      () => shop.variable([n, 1]),
      () => shop.variable([n, d]),
    ])();
    const mixed = ml.ops.mul(ml.ops.add(a, other), a);
    return ml.ops.matMul(shop.fitted(n === 1 ? 2 : n), n === 1 ? ml.ops.broadcastTo(mixed, [2, d]) : mixed);
  },
  cachedVariable: (shop) => {
    const { graph } = shop;
    const x = shop.matrix();
    const w = graph.variableCreatorScope(ml.graphs.cachedVariableCreator, () =>
      graph.device(ml.graphs.psDevice(1), () => shop.variable([x.columns, 3], 0.5)),
    );
    return ml.ops.matMul(x, w);
  },
  reduceColumns: (shop) => {
    const x = shop.any();
    const axis = 'columns';
    return shop.random.of([
      () => ml.ops.reduceMean(x, { axis }),
      () => ml.ops.reduceSum(x, { axis }),
      () => ml.ops.reduceMax(x, { axis }),
    ])();
  },
  batchMean: (shop) => {
    const x = shop.any();
    return ml.ops.sub(x, batchMean(x));
  },
  batchSum: (shop) => {
    const x = shop.any();
    return ml.ops.mul(shop.like(x), ml.ops.scale(ml.ops.batchSum(ml.ops.reduceSum(x, { axis: 'batch' })), 0.125));
  },
  batchMax: (shop) => {
    const x = shop.random.chance(0.5) ? shop.column() : shop.matrix();
    return ml.ops.sub(x, ml.ops.reduceMax(x, { axis: shop.random.of(['batch', 'all'] as const) }));
  },
  weightedMean: (shop) => {
    const x = shop.any();
    return ml.ops.add(x, ml.ops.scale(ml.ops.batchSum(ml.ops.weightedMean(shop.column(), shop.feeds.weight!)), 0.5));
  },
  penalty: (shop) => {
    const w = shop.variable([shop.width(), shop.width()]);
    shop.shared.push(ml.ops.scale(ml.ops.reduceSum(ml.ops.square(w)), 0.01));
    return ml.ops.matMul(
      shop.fitted(Math.max(2, w.spec.shape[0] as number)),
      ml.ops.broadcastTo(ml.ops.reduceSum(w), [Math.max(2, w.spec.shape[0] as number), 3]),
    );
  },
};
