/** @file A graph with every op that predictions of a file may be made of, each under one of its outputs. */

import type { Inputs } from '../../src/data/schema.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import * as activations from '../../src/graph/ops/activations.js';
import * as attention from '../../src/graph/ops/attention.js';
import { batchMatMul, matMulInner } from '../../src/graph/ops/batch-matmul.js';
import { broadcastTo, sumTo } from '../../src/graph/ops/broadcast.js';
import { cast, stopGradient } from '../../src/graph/ops/cast.js';
import { clipByValue } from '../../src/graph/ops/clip.js';
import { columns, concatColumns } from '../../src/graph/ops/columns.js';
import * as elementwise from '../../src/graph/ops/elementwise.js';
import * as inner from '../../src/graph/ops/inner.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { l2Normalize, layerNorm } from '../../src/graph/ops/norms.js';
import { cin, ffm, fmPairs } from '../../src/graph/ops/pairs.js';
import * as positions from '../../src/graph/ops/positions.js';
import { reduceMax } from '../../src/graph/ops/reductions.js';
import { addBias, rowDot, scaleColumns, scaleRows } from '../../src/graph/ops/rows.js';
import { sequenceMask } from '../../src/graph/ops/sequence.js';
import { reshape, stack, transposeInner } from '../../src/graph/ops/shape.js';
import { constant, variable } from '../../src/graph/ops/state.js';
import { dropout, ifTraining } from '../../src/graph/ops/training.js';
import { abs, exp, log1p, sign } from '../../src/graph/ops/unary.js';
import { FixedR8Compressor } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';

export const features = {
  x: dense.f32({ width: 8 }),
  ids: ragged.i64({ valuesPerRow: 4 }),
  time: dense.i64(),
};
export const schema = defineSchema(features);

const ramp = (count: number) => () => Float32Array.from({ length: count }, (_, at) => Math.sin(at + 1));

/** Everything as outputs by a name. */
export function everyOp(): { readonly graph: Graph; readonly outputs: Readonly<Record<string, Tensor>> } {
  const graph = new Graph({ mode: 'predict' });
  const { x, ids, time }: Inputs<typeof features> = schema.inputs(graph);
  const weights = (name: string, shape: readonly number[]) =>
    variable(graph, { name, shape, initial: ramp(shape.reduce((count, size) => count * size, 1)) });
  const table = defineTable('items', [{ dim: 4 }, { dim: 2, compressor: FixedR8Compressor(2) }]);
  const rows = embeddingLookup(ids, table, { pooling: { firstN: 3 } });
  const cube = reshape(x, [2, 4]);
  const deep = reshape(x, [2, 2, 2]);
  const kernel = weights('kernel', [8, 3]);
  const vector = weights('vector', [8]);
  const heads = attention.headScores(cube, cube, { heads: 2 });
  const top = inner.topK(x, 3);
  const outputs: Record<string, Tensor> = {
    sum: embeddingLookup(ids, table),
    mean: embeddingLookup(ids, table, { pooling: 'mean' }),
    rows: reshape(rows, [18]),
    mask: sequenceMask(ids, 3),
    time: cast(time as never, 'float32'),
    relu: activations.relu(x),
    gelu: activations.gelu(x),
    leaky: activations.leakyRelu(x),
    prelu: activations.prelu(x, vector),
    unary: abs(elementwise.add(exp(elementwise.scale(x, 0.1)), log1p(elementwise.mul(sign(x), sign(x))))),
    compare: elementwise.greaterEqual(x, 0.5),
    arithmetic: elementwise.div(elementwise.sub(x, vector), elementwise.maximum(vector, 2)),
    difference: elementwise.sub(x, activations.tanh(x)),
    clip: scaleColumns(x, clipByValue(vector, -0.5, 0.5)),
    clipLarge: columns(matMul(x, clipByValue(weights('large', [8, 2100]), -0.5, 0.5)), 2000, 2003),
    products: addBias(matMul(x, kernel), weights('bias', [3])),
    transposed: matMul(x, weights('other', [3, 8]), { transposeB: true }),
    dot: rowDot(x, x),
    scaled: scaleRows(columns(x, 0, 1), x),
    columns: concatColumns([columns(x, 2, 5), columns(x, 0, 1)]),
    total: sumTo(x, ['batch']),
    repeated: broadcastTo(columns(x, 1, 2), ['batch', 4]),
    largest: reduceMax(x, { axis: 'columns' }),
    layerNorm: layerNorm(x, vector, weights('shift', [8])),
    length: l2Normalize(x),
    fm: fmPairs(x, { dim: 4 }),
    ffm: ffm(x, x, { dim: 4 }),
    cin: cin(cube, cube, weights('cin', [4, 3])),
    sums: inner.sumInner(cube),
    means: inner.meanInner(deep, { axis: 2 }),
    maxima: inner.maxInner(deep, { axis: 3 }),
    broadcast: inner.broadcastInner(x, 2),
    top: elementwise.add(top.values, top.indices),
    groups: inner.scaleGroups(reshape(columns(x, 0, 2), [2]), cube),
    groupDot: inner.groupDot(cube, cube),
    shared: inner.addShared(inner.mulShared(cube, weights('factors', [4])), weights('grid', [2, 4])),
    slice: positions.sliceInner(deep, 0, 1, { axis: 2 }),
    join: positions.concatInner([deep, deep], { axis: 3 }),
    gather: positions.gatherInner(cube, [1, 0, 1]),
    stack: stack([columns(x, 0, 2), columns(x, 2, 4)]),
    transpose: transposeInner(cube),
    matrices: batchMatMul(cube, cube, { transposeB: true }),
    inner: matMulInner(cube, weights('inner', [4, 2])),
    attention: attention.headMix(attention.softmax(heads), cube),
    masked: attention.softmax(columns(x, 0, 3), { mask: sequenceMask(ids, 3) }),
    folded: ifTrainingOf(graph, dropout(stopGradient(x), { rate: 0.5 })),
  };
  return { graph, outputs };
}

/** What only training does lies between: a file has none of it. */
function ifTrainingOf(graph: Graph, x: Tensor): Tensor {
  const [yes, no] = [constant(graph, [100]), constant(graph, [2])];
  return elementwise.mul(x, ifTraining(yes, no));
}
