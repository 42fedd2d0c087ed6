import t, { type Test } from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { batchSum } from '../../src/graph/ops/batch-sum.js';
import { concatColumns } from '../../src/graph/ops/columns.js';
import { mul, scale } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias, rowDot } from '../../src/graph/ops/rows.js';
import { constant, globalStep, group, increment, placeholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { stagesOf } from './stages-of.js';
import { BACKENDS, withSession } from './with-session.js';

const ROWS = 7;
const K = 3;
const X = Float32Array.from({ length: ROWS * K }, (_, i) => Math.fround(Math.sin(i * 2.3)));
const row = (r: number) => [...X.subarray(r * K, (r + 1) * K)];
const rows = Array.from({ length: ROWS }, (_, r) => row(r));

function close(t: Test, found: ArrayLike<number>, wanted: readonly number[], what: string): void {
  t.equal(found.length, wanted.length, what);
  for (const [i, value] of wanted.entries()) {
    if (!(Math.abs(found[i]! - value) <= 1e-5 * Math.max(1, Math.abs(value))))
      t.equal(found[i], value, `${what} [${i}]`);
  }
}

t.test(
  'a plain training step has one stage of slices and one of threads, an evaluation has no thread stage',
  async (t) => {
    const graph = new Graph();
    const x = placeholder(graph, { name: 'x', width: K });
    const bias = variable(graph, { name: 'bias', shape: [K], initial: () => new Float32Array(K) });
    const loss = reduceMean(rowDot(x, addBias(x, bias)));
    const step = increment(globalStep(graph));
    const grads = gradients([loss], [bias]) as [Tensor];
    const updates = graph.controlDependencies([step], () => applyGradients([[grads[0], bias]], SgdOptimizer()));
    const train = group(graph, [step, ...updates]) as Op;
    await withSession(graph, {}, async (session) => {
      t.equal(stagesOf(session, [loss, train]), 'st');
      t.equal(stagesOf(session, [loss]), 's');
      t.equal(stagesOf(session, [step as Op]), 't');
    });
  },
);

t.test('an op that was asked to run after an update sees what it wrote', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: K });
  const bias = variable(graph, { name: 'bias', shape: [K], initial: () => new Float32Array(K) });
  const lossOf = (name: string) => reduceMean(rowDot(x, addBias(scale(x, 0), bias)), { name });
  const before = lossOf('before');
  const [gradient] = gradients([before], [bias]) as [Tensor];
  const update = group(graph, applyGradients([[gradient, bias]], SgdOptimizer({ learningRate: 1 })));
  const after = graph.controlDependencies([update], () => lossOf('after'));
  for (const backend of BACKENDS) {
    for (const threads of [1, 3]) {
      await withSession(graph, { backend, threads }, async (session) => {
        t.equal(stagesOf(session, [after]), 'sts');
        const [was, is] = (await session.run([before, after], { x: X })) as [number, number];
        t.equal(was, 0);
        const means = [0, 1, 2].map((c) => rows.reduce((sum, r) => sum + r[c]!, 0) / ROWS);
        close(t, [is], [-means.reduce((sum, m) => sum + m * m, 0)], `${backend} ${threads}`);
      });
    }
  }
});

/** y = x (xᵀx): every row needs a sum over all rows. */
function gramModel(by: 'slices' | 'threads') {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: K });
  const gram = batchSum(matMul(x, x, { transposeA: true }), { by });
  const y = matMul(x, gram);
  const loss = reduceMean(mul(y, y));
  return { graph, x, gram, y, loss, gradient: gradients([loss], [x])[0]! };
}

const product = (a: readonly number[][], b: readonly number[][]) =>
  a.map((line) => b[0]!.map((_, c) => line.reduce((sum, v, k) => sum + v * b[k]![c]!, 0)));
const flip = (a: readonly number[][]) => a[0]!.map((_, c) => a.map((line) => line[c]!));
const gramLoss = (x: number[][]) =>
  product(x, product(flip(x), x))
    .flat()
    .reduce((sum, v) => sum + v * v, 0) /
  (ROWS * K);

for (const by of ['slices', 'threads'] as const) {
  t.test(`a sum over the batch is completed within the step by ${by}, and differentiated`, async (t) => {
    const expected = product(rows, product(flip(rows), rows)).flat();
    const h = 1e-5;
    const slopes = rows.flatMap((line, r) =>
      line.map((_, c) => {
        const moved = (by: number) => rows.map((l, i) => l.map((v, j) => (i === r && j === c ? v + by : v)));
        return (gramLoss(moved(h)) - gramLoss(moved(-h))) / (2 * h);
      }),
    );
    for (const backend of BACKENDS) {
      for (const threads of [1, 3]) {
        const { graph, gram, y, loss, gradient } = gramModel(by);
        await withSession(graph, { backend, threads }, async (session) => {
          t.equal(stagesOf(session, [gradient]), by === 'slices' ? 'sss' : 'ststs');
          const [g, found, at, slope] = await session.run([gram, y, loss, gradient], { x: X });
          close(t, g as Float32Array, product(flip(rows), rows).flat(), 'gram');
          close(t, found as Float32Array, expected, `${backend} ${threads}`);
          close(t, [at as number], [gramLoss(rows)], 'loss');
          close(t, slope as Float32Array, slopes, 'gradient');
        });
      }
    }
  });

  t.test(`deterministic sums completed by ${by} have the same bytes for any number of threads`, async (t) => {
    const found = new Set<string>();
    for (const threads of [1, 3]) {
      const { graph, loss, gradient } = gramModel(by);
      await withSession(graph, { threads, deterministic: true, batchSize: 40 }, async (session) => {
        const values = await session.run([loss, gradient], { x: X });
        found.add(
          JSON.stringify(values.map((value) => (typeof value === 'number' ? value : [...(value as Float32Array)]))),
        );
      });
    }
    t.equal(found.size, 1);
  });
}

t.test('a penalty on weights joins a loss without a further stage', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 1 });
  const weight = variable(graph, { name: 'weight', shape: [1, 1], initial: () => Float32Array.of(5) });
  const squared = matMul(weight, weight);
  const gain = matMul(x2(x), weight);
  const [data] = gradients([reduceMean(gain)], [weight]) as [Tensor];
  const [both] = gradients([reduceMean(gain), squared], [weight]) as [Tensor];
  await withSession(graph, { threads: 3, batchSize: X.length }, async (session) => {
    t.equal(stagesOf(session, [data, both]), 's');
    const [first, second] = (await session.run([data, both], { x: X })) as [Float32Array, Float32Array];
    const mean = X.reduce((sum, v) => sum + v, 0) / X.length;
    close(t, first, [2 * mean], 'of the data');
    close(t, second, [2 * mean + 10], 'of the data and the penalty');
    t.equal(stagesOf(session, applyGradients([[both, weight]], SgdOptimizer())), 'st');
  });
  /** `[batch]` as `[batch, 1]`, doubled. */
  function x2(tensor: Tensor): Tensor {
    return matMul(concatColumns([tensor, tensor]), constant(graph, [1, 1], { shape: [2, 1] }));
  }
});

t.test('a gradient that is no sum over the batch is applied as it is', async (t) => {
  const graph = new Graph();
  const weight = variable(graph, { name: 'weight', shape: [2, 2], initial: () => Float32Array.of(1, 2, 3, 4) });
  const gradient = scale(weight, 0.5);
  const update = applyGradients([[gradient, weight]], SgdOptimizer({ learningRate: 1 }))[0]!;
  for (const threads of [1, 3]) {
    await withSession(graph, { threads }, async (session) => {
      await session.run([update]);
      t.same([...session.readVariable('weight')], [0.5, 1, 1.5, 2]);
    });
  }
});

t.test('completed numbers can be fetched from many steps at once', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: K });
  const means = (['slices', 'threads'] as const).map((by) => batchSum(reduceMean(x), { by }));
  await withSession(graph, { threads: 3 }, async (session) => {
    t.ok(session.stepsAheadMax(means) > 1);
    const mean = X.reduce((sum, v) => sum + v, 0) / X.length;
    for (const value of await session.run(means, { x: X })) close(t, [value as number], [mean], 'mean');
  });
});
