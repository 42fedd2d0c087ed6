import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { batchSum } from '../../src/graph/ops/batch-sum.js';
import { broadcastTo } from '../../src/graph/ops/broadcast.js';
import { stopGradient } from '../../src/graph/ops/cast.js';
import { clipByValue } from '../../src/graph/ops/clip.js';
import { add, div, maximum, minimum, mul, scale, sub } from '../../src/graph/ops/elementwise.js';
import { inbatchAucLoss } from '../../src/graph/ops/inbatch-auc.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { batchNorm, UPDATE_OPS } from '../../src/graph/ops/norms.js';
import { reduceMax, reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { assign, assignAdd, placeholder, variable } from '../../src/graph/ops/state.js';
import { abs, exp, log, log1p, neg, sqrt, square } from '../../src/graph/ops/unary.js';
import * as plain from '../../src/tensor/ops/inbatch-auc-loss.js';
import { stagesOf } from '../runtime/stages-of.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';
import { prepareDifferences } from './differences.js';

interface Parts {
  readonly x: Tensor;
  readonly y: Tensor;
  readonly one: Tensor;
  readonly narrow: Tensor;
  readonly vector: Tensor;
  readonly scalar: Tensor;
  readonly matrix: Tensor;
}

function parts(): Parts {
  const graph = new Graph();
  const values = (list: readonly number[]) => () => Float32Array.from(list);
  return {
    x: placeholder(graph, { name: 'x', width: 3 }),
    y: placeholder(graph, { name: 'y', width: 3 }),
    one: placeholder(graph, { name: 'one' }),
    narrow: matMul(
      placeholder(graph, { name: 'z', width: 2 }),
      variable(graph, { name: 'column', shape: [2, 1], initial: values([0.4, 1.3]) }),
    ),
    vector: variable(graph, { name: 'vector', shape: [3], initial: values([0.7, -1.2, 1.9]) }),
    scalar: variable(graph, { name: 'scalar', shape: [], initial: values([1.4]) }),
    matrix: variable(graph, { name: 'matrix', shape: [2, 3], initial: values([0.5, -0.8, 1.1, 0.9, 1.6, -0.4]) }),
  };
}

const positive = (x: Tensor) => add(square(x), 0.5);

/** Each gives a tensor with a row per example; only what it depends on is looked at. */
const CASES: Readonly<Record<string, (p: Parts) => Tensor>> = {
  'add a vector': ({ x, vector }) => add(x, vector),
  'vector less rows': ({ x, vector }) => sub(vector, x),
  'rows less a scalar': ({ x, scalar }) => sub(x, scalar),
  'product with a scalar': ({ x, scalar }) => mul(scalar, x),
  'product with a vector': ({ x, vector }) => mul(x, vector),
  'product with a number': ({ x }) => mul(x, -1.7),
  'product with one per example': ({ x, one }) => mul(one, x),
  'quotient of rows': ({ x, y }) => div(x, positive(y)),
  'quotient by a vector': ({ x, vector }) => div(x, vector),
  'number by rows': ({ x }) => div(2, positive(x)),
  'one column by one per example': ({ narrow, one }) => div(narrow, positive(one)),
  'quotient by one per example': ({ x, one }) => div(x, positive(one)),
  maximum: ({ x, y }) => maximum(x, y),
  'minimum with a vector': ({ x, vector }) => minimum(vector, x),
  'clip by value': ({ x }) => clipByValue(x, -0.7, 0.8),
  'clip a sum over the batch by value': ({ x, y }) => mul(y, clipByValue(reduceSum(x, { axis: 'batch' }), -0.4, 0.5)),
  abs: ({ x }) => abs(x),
  sqrt: ({ x }) => sqrt(positive(x)),
  'exp of the negative': ({ x }) => exp(neg(x)),
  log: ({ x }) => log(positive(x)),
  log1p: ({ x }) => log1p(maximum(x, -0.6)),
  'sum over columns': ({ x, y }) => mul(reduceSum(x, { axis: 'columns' }), y),
  'mean over columns': ({ x }) => reduceMean(x, { axis: 'columns' }),
  'largest column': ({ x }) => reduceMax(x, { axis: 'columns' }),
  'rows less the mean of the batch': ({ x }) => sub(x, reduceMean(x, { axis: 'batch' })),
  'rows by the sum of the batch': ({ x }) => div(x, add(square(reduceSum(x, { axis: 'batch' })), 1)),
  'rows less the largest of the batch': ({ x }) => sub(x, reduceMax(x, { axis: 'batch' })),
  'the largest of all, for every row': ({ x, y }) => mul(reduceMax(x), y),
  'mean of everything, squared': ({ x, y }) => add(y, square(reduceMean(x))),
  'product of two sums over the batch': ({ x, y }) => add(y, mul(reduceSum(x, { axis: 'batch' }), reduceMean(y))),
  'shared matrix and vector': ({ x, matrix, vector }) => matMul(x, div(matrix, positive(vector)), { transposeB: true }),
  'shared matrix and its mean': ({ x, matrix }) => matMul(x, sub(matrix, reduceMean(matrix)), { transposeB: true }),
  'a vector for every row': ({ vector, y }) => mul(broadcastTo(vector, ['batch', 3]), y),
  'transposed products': ({ x, matrix }) => matMul(matMul(x, matrix, { transposeB: true }), matrix),
  'batch norm': ({ x }) => batchNorm(x, { training: true }),
  'batch norm of an evaluation': ({ x }) => batchNorm(x),
  'batch norm without shift and factor': ({ x }) => batchNorm(x, { training: true, center: false, scale: false }),
  'batch norm of one column': ({ one, y }) => mul(batchNorm(one, { training: true }), y),
};

t.test('gradients equal differences, also where slices need each other', async (t) => {
  const p = parts();
  const checks = Object.entries(CASES).map(([name, build]) => ({ name, check: prepareDifferences(build(p)) }));
  const options = { threads: 3, batchSize: 5, memoryBytes: 64 << 20 };
  await withSession(p.x.graph, options, async (session) => {
    for (const { name, check } of checks) t.same(await check(session), [], name);
  });
});

const X = Float32Array.from({ length: 15 }, (_, i) => Math.fround(Math.sin(i * 1.3)));

t.test('both backends give the values of plain arithmetic, and a stopped gradient is none', async (t) => {
  const { x, vector, scalar } = parts();
  const values = [0.7, -1.2, 1.9].map(Math.fround);
  const at = (i: number) => X[i]!;
  const column = (c: number) => [0, 1, 2, 3, 4].map((r) => at(r * 3 + c));
  const expected: [Tensor, number[]][] = [
    [div(x, vector), [...X].map((v, i) => v / values[i % 3]!)],
    [exp(x), [...X].map(Math.exp)],
    [log(add(abs(x), scalar)), [...X].map((v) => Math.log(Math.abs(v) + 1.4))],
    [clipByValue(x, -0.5, 0.25), [...X].map((v) => Math.min(Math.max(v, -0.5), 0.25))],
    [reduceSum(x, { axis: 'columns' }), [0, 1, 2, 3, 4].map((r) => at(r * 3) + at(r * 3 + 1) + at(r * 3 + 2))],
    [reduceMean(x, { axis: 'batch' }), [0, 1, 2].map((c) => column(c).reduce((a, b) => a + b) / 5)],
    [reduceMax(x, { axis: 'batch' }), [0, 1, 2].map((c) => Math.max(...column(c)))],
    [reduceMax(x), [Math.max(...X)]],
    [batchSum(reduceSum(x)), [X.reduce((a, b) => a + b)]],
  ];
  t.same(gradients([reduceMean(stopGradient(x))], [x]), [undefined]);
  for (const backend of BACKENDS) {
    await withSession(x.graph, { backend, threads: 2 }, async (session) => {
      const found = await session.run(
        expected.map(([tensor]) => tensor),
        { x: X, y: X, one: X.subarray(0, 5), z: X.subarray(0, 10) },
      );
      expected.forEach(([tensor, wanted], index) => {
        const list = typeof found[index] === 'number' ? [found[index]] : [...(found[index] as Float32Array)];
        t.equal(list.length, wanted.length);
        t.ok(
          wanted.every((value, i) => Math.abs(list[i]! - value) < 1e-5),
          `${backend} ${tensor.name}`,
        );
      });
    });
  }
});

t.test('assignments run once per step, after everything else', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 3 });
  const last = variable(graph, { name: 'last', shape: [3], initial: () => new Float32Array(3), trainable: false });
  const total = variable(graph, { name: 'total', shape: [3], initial: () => new Float32Array(3), trainable: false });
  const seen = batchSum(reduceSum(x, { axis: 'batch' }));
  const before = scale(last, 1);
  const ops = [assign(last, seen), assignAdd(total, reduceSum(x, { axis: 'batch' }))];
  t.throws(() => assign(x, x), { code: 'ML_GRAPH', message: /x:0 is no float variable/ });
  t.throws(() => assign(last, reduceMean(x)), { code: 'ML_GRAPH', message: /shape \[\] does not fit \[3\]/ });
  for (const threads of [1, 3]) {
    await withSession(graph, { threads }, async (session) => {
      const sums = [0, 1, 2].map((c) => [0, 1, 2, 3, 4].reduce((sum, r) => sum + X[r * 3 + c]!, 0));
      await session.run(ops, { x: X });
      const [old] = await session.run([before, ...ops], { x: X.map((v) => 2 * v) });
      const near = (found: ArrayLike<number>, factor: number) =>
        sums.every((sum, c) => Math.abs(found[c]! - factor * sum) < 1e-5);
      t.ok(near(old as Float32Array, 1), 'the step saw the value from before');
      t.ok(near(session.readVariable('last') as Float32Array, 2));
      t.ok(near(session.readVariable('total') as Float32Array, 3));
    });
  }
});

const round = (value: number) => Math.round(value * 1e4) / 1e4;

t.test('one batch norm keeps moving averages in training and uses them in evaluation', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 3 });
  const out = batchNorm(x, { momentum: 0.5, name: 'bn' });
  const updates = graph.getCollection(UPDATE_OPS);
  t.equal(updates.length, 2);
  const [slope] = gradients([reduceSum(square(out))], [x]);
  await withSession(graph, { threads: 2 }, async (session) => {
    const [before, flat] = (await session.run([out, slope!], { x: X })) as Float32Array[];
    t.same(
      [...before!].map(round),
      [...X].map((v) => round(v / Math.sqrt(1.001))),
      'averages that never moved',
    );
    t.same(
      [...flat!].map(round),
      [...X].map((v) => round((2 * v) / 1.001)),
      'which are constants to a gradient',
    );
    t.same([...session.readVariable('bn/moving_mean')], [0, 0, 0], 'an evaluation moves nothing');
    const [y, steep] = (await session.run([out, slope!, ...updates], { x: X })) as Float32Array[];
    t.notSame([...steep!].map(round), [...flat!].map(round));
    for (let c = 0; c < 3; c++) {
      const column = [0, 1, 2, 3, 4].map((r) => X[r * 3 + c]!);
      const mean = column.reduce((a, b) => a + b) / 5;
      const variance = column.reduce((sum, v) => sum + (v - mean) ** 2, 0) / 5;
      t.ok(Math.abs(Number(session.readVariable('bn/moving_mean')[c]) - mean / 2) < 1e-6);
      t.ok(Math.abs(Number(session.readVariable('bn/moving_variance')[c]) - (1 + variance) / 2) < 1e-6);
      const normal = (column[0]! - mean) / Math.sqrt(variance + 1e-3);
      t.ok(Math.abs(y![c]! - normal) < 1e-5);
    }
    const moved = ['bn/moving_mean', 'bn/moving_variance'].map((name) => session.readVariable(name).slice());
    const [after] = (await session.run([out], { x: X })) as Float32Array[];
    const [mean, variance] = moved as [Float32Array, Float32Array];
    t.same(
      [...after!].map(round),
      [...X].map((v, i) => round((v - mean[i % 3]!) / Math.sqrt(variance[i % 3]! + 1e-3))),
    );
    t.same(
      ['bn/moving_mean', 'bn/moving_variance'].map((name) => session.readVariable(name).slice()),
      moved,
    );
    t.equal(stagesOf(session, [out]), 's', 'statistics of the batch are not computed: there is no barrier');
  });
  const served = new Graph();
  const input = placeholder(served, { name: 'x', width: 3 });
  const fixed = batchNorm(input, { training: false });
  t.same(served.getCollection(UPDATE_OPS), []);
  await withSession(served, { threads: 1 }, async (session) => {
    session.writeVariable('batch_normalization/moving_mean', Float32Array.of(0.5, 0, 0));
    session.writeVariable('batch_normalization/moving_variance', Float32Array.of(4, 1, 1));
    const [y] = await session.run([fixed], { x: X });
    t.ok(Math.abs((y as Float32Array)[3]! - (X[3]! - 0.5) / Math.sqrt(4.001)) < 1e-6);
  });
  t.throws(() => batchNorm(x, { training: true, momentum: 2 }), { code: 'ML_GRAPH', message: /momentum of 2/ });
});

t.test('the in-batch AUC loss sees the whole batch, whatever the slices', async (t) => {
  const label = Float32Array.of(1, 0, 1, -20000, 0, 1, 0);
  const logit = Float32Array.of(0.3, -0.2, 1.4, 9, 0.8, -1, 0.1);
  for (const backend of BACKENDS) {
    for (const threads of [1, 3]) {
      const graph = new Graph();
      const [labels, logits] = [placeholder(graph, { name: 'label' }), placeholder(graph, { name: 'logit' })];
      const loss = inbatchAucLoss(scale(logits, 1), labels, { negWeight: 0.5 });
      const [gradient] = gradients([scale(loss, -2)], [logits]) as [Tensor];
      await withSession(graph, { backend, threads }, async (session) => {
        const [value, found] = await session.run([loss, gradient], { label, logit });
        t.ok(Math.abs((value as number) - plain.inbatchAucLoss(label, logit)) < 1e-5, `${backend} ${threads}`);
        const wanted = plain.inbatchAucLossGradient(label, logit, -2, 0.5);
        t.ok(
          wanted.every((w, i) => Math.abs((found as Float32Array)[i]! - w) < 1e-5),
          'gradient',
        );
      });
    }
  }
  const graph = new Graph();
  const [labels, logits] = [placeholder(graph, { name: 'label' }), placeholder(graph, { name: 'logit', width: 2 })];
  t.throws(() => inbatchAucLoss(logits, labels), { code: 'ML_GRAPH', message: /one value per example/ });
});
