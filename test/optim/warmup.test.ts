/** @file Rates that begin at 0: such a step moves no weight, and the steps after it are as good as any. */
import t from 'tap';
import * as optimizers from '../../src/compat/optimizers.js';
import * as ml from '../../src/index.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';
import { fedModel, trainFed } from './one-step.js';

const STEPS = 12;
const warmup = () => ml.schedules.warmup({ warmupSteps: 10, after: 0.1 });

const DENSE = {
  GradientDescent: new optimizers.GradientDescentOptimizer({ learningRate: warmup() }),
  Momentum: new optimizers.MomentumOptimizer({ learningRate: warmup(), momentum: 0.9 }),
  Adagrad: new optimizers.AdagradOptimizer({ learningRate: warmup() }),
  Ftrl: new optimizers.FtrlOptimizer({ learningRate: warmup(), initialAccumulatorValue: 0 }),
  Adam: new optimizers.AdamOptimizer({ learningRate: warmup(), epsilon: 0 }),
  Adamom: new optimizers.AdamomOptimizer({ learningRate: warmup() }),
  Rmsprop: new optimizers.RmspropOptimizer({ learningRate: warmup(), epsilon: 0 }),
  Shampoo: new optimizers.ShampooOptimizer({ learningRate: warmup(), warmup: 2, tau1: 1, tau2: 1 }),
};

for (const backend of BACKENDS) {
  t.test(`variables stay at rate 0 and go on from there, on ${backend}`, async (t) => {
    const weights = (steps: number) =>
      trainFed(fedModel([3, 2], DENSE), [3, 2, steps], { backend }, (session) =>
        Object.keys(DENSE).map((name) => [...session.readVariable(name)].map(Number)),
      );
    const [before, first, last] = [await weights(0), await weights(1), await weights(STEPS)];
    t.same(first, before, 'the first step moves none');
    Object.keys(DENSE).forEach((name, i) => {
      t.ok(last[i]!.every(Number.isFinite), `${name} is finite`, { found: last[i] });
      t.notSame(last[i], before[i], `${name} learns`);
    });
  });

  t.test(`rows of tables stay at rate 0 and go on from there, on ${backend}`, async (t) => {
    const rates = { learningRate: 0.1, warmupSteps: 10 };
    const kinds = {
      Sgd: ml.sparse.sgd(rates),
      Adagrad: ml.sparse.adagrad({ ...rates, initialAccumulatorValue: 0 }),
      Ftrl: ml.sparse.ftrl(rates),
      FTRLWithGroupSparsity: ml.sparse.ftrlWithGroupSparsity(rates),
      AdaGradWithGroupLasso: ml.sparse.adagradWithGroupLasso(rates),
      Adadelta: ml.sparse.adadelta(rates),
      Adam: ml.sparse.adam(rates),
      Amsgrad: ml.sparse.amsgrad(rates),
      Momentum: ml.sparse.momentum(rates),
    };
    const graph = new ml.Graph();
    const ids = ml.ops.raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 });
    const tables = Object.entries(kinds).map(([name, optimizer]) =>
      ml.defineTable(name, [{ dim: 3, initializer: ml.sparse.constant(0.5), optimizer }]),
    );
    const lookups = tables.map((table) => ml.ops.embeddingLookup(ids, table));
    // The last column has no gradient.
    const first = (x: ml.Tensor) => ml.ops.columns(x, 0, 2);
    const loss = ml.ops.addN(lookups.map((x) => ml.ops.reduceMean(ml.ops.rowDot(first(x), first(x)))));
    const gradients = ml.ops.gradients([loss], lookups);
    const pairs = lookups.map((x, i) => [gradients[i]!, x] as const);
    const train = ml.ops.group(graph, [
      ...ml.ops.applyEmbeddingGradients(pairs),
      ml.ops.increment(ml.ops.globalStep(graph)),
    ]);
    await withSession(graph, { backend, batchSize: 1, threads: 1 }, async (session) => {
      const rows = () =>
        tables.map((table) => [...ml.tables.HashTable.of(session, table).lookup(BigInt64Array.of(7n))]);
      const run = () => session.run([train], { ids: raggedOf([[7n]]) });
      await run();
      for (const row of rows()) t.same(row, [0.5, 0.5, 0.5], 'the first step moves none');
      for (let step = 1; step < STEPS; step++) await run();
      rows().forEach((row, i) => {
        const [a, , c] = row as [number, number, number];
        t.ok(row.every(Number.isFinite) && a !== 0.5, `${tables[i]!.name} learns and is finite`, { found: row });
        const isFtrl = tables[i]!.name.startsWith('F');
        // Ftrl makes a weight of its sums, which are 0 without gradients; group lasso keeps what it divides and
        // multiplies.
        if (!isFtrl)
          t.ok(Math.abs(c - 0.5) < 1e-6, `${tables[i]!.name} keeps a weight without gradients`, { found: c });
      });
    });
  });
}
