/**
 * @file Rounding of weights to half precision: unbiased, and the same bytes whatever threads, calls and restarts there
 * are.
 */
import t from 'tap';
import * as ml from '../../src/index.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';
import { TableFixture } from './table-fixture.js';

const IDS = 4000;
const ids = BigInt64Array.from({ length: IDS }, (_, i) => BigInt(i));
const rounded = (first: number) =>
  ml.defineTable('rounded', [
    {
      dim: 4,
      initializer: ml.sparse.constant(first),
      optimizer: ml.sparse.withStochasticRounding(ml.sparse.sgd({ learningRate: 1 })),
    },
  ]);

/** The distance of halves at 0.1. */
const SPACING = 2 ** -14;

/**
 * Six deviations of the mean of `count` weights that a chance of `share` moves by one spacing: a right generator fails
 * once in 5e8 draws of a seed, and the seed is fixed.
 */
const bound = (count: number, share: number, steps = 1) =>
  6 * SPACING * Math.sqrt((share * (1 - share) * steps) / count);

/** The share of weights that no step moved: 0.92 ** 120 of a right one, 0.92 where every step draws the same. */
const stayed = (weights: Float32Array, first: number) => weights.filter((x) => x === first).length / weights.length;

const mean = (values: Float32Array) => values.reduce((sum, x) => sum + x, 0) / values.length;

for (const backend of ['wasm', 'reference'] as const) {
  const count = backend === 'wasm' ? IDS : 500;
  const some = ids.subarray(0, count);

  t.test(`the mean of rounded weights is the weight, in each column, on ${backend}`, async (t) => {
    for (const share of [0.1, 0.5, 0.9]) {
      for (const sign of [1, -1]) {
        const x = Math.fround(sign * (1638 + share) * SPACING);
        const exact = Math.abs(x) / SPACING - 1638;
        const table = new TableFixture(backend, { seed: 3 }).table(rounded(x));
        table.optimize(some, new Float32Array(4 * count), { globalStep: 5 });
        const weights = table.lookup(some);
        for (let c = 0; c < 4; c++) {
          const found = mean(weights.filter((_, i) => i % 4 === c));
          const wrong = Math.abs(found - x);
          t.ok(wrong < bound(count, exact), `column ${c} of ${x}`, { found, wrong, bound: bound(count, exact) });
        }
      }
    }
  });

  t.test(`small steps add up though each is below the spacing, on ${backend}`, async (t) => {
    // With a step that callers give, and with none: then calls are counted.
    for (const given of [true, false]) {
      for (const g of [5e-6, -5e-6]) {
        const [first, steps, few] = [1638 * SPACING, 120, ids.subarray(0, count / 10)];
        const table = new TableFixture(backend).table(rounded(first));
        const gradients = new Float32Array(4 * few.length);
        for (let step = 0; step < steps; step++) {
          table.optimize(few, gradients.fill(g), given ? { globalStep: step } : {});
        }
        const weights = table.lookup(few);
        const found = mean(weights);
        const wrong = Math.abs(found - (first - steps * g));
        const most = bound(4 * few.length, Math.abs(g) / SPACING, steps);
        t.ok(wrong < most, `${g}, ${given ? 'with' : 'without'} steps`, { found, wrong, most });
        t.ok(stayed(weights, first) < 0.05, 'draws of steps are independent', { stayed: stayed(weights, first) });
      }
    }
  });
}

t.test('the two backends round alike', async (t) => {
  const [wasm, plain] = (['wasm', 'reference'] as const).map((backend) => {
    const table = new TableFixture(backend, { seed: 9 }).table(rounded(0.1));
    for (let step = 0; step < 3; step++) {
      table.optimize(ids.subarray(0, 50), new Float32Array(200).fill(1e-5 * step), { globalStep: step });
    }
    return table.lookup(ids.subarray(0, 50));
  });
  t.same(wasm, plain);
});

function model() {
  const graph = new ml.Graph();
  const table = rounded(0.1);
  const x = ml.ops.embeddingLookup(ml.ops.raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }), table);
  const loss = ml.ops.reduceMean(ml.ops.rowDot(x, x));
  const updates = ml.ops.applyEmbeddingGradients([[ml.ops.gradients([loss], [x])[0]!, x]]);
  const train = ml.ops.group(graph, [...updates, ml.ops.increment(ml.ops.globalStep(graph))]);
  return { graph, table, train };
}

const BATCH = 64;
const STEPS = 20;
const batch = (step: number) =>
  raggedOf(Array.from({ length: BATCH }, (_, k) => [BigInt((k * 31 + step * 17) % 200)] as const));

for (const backend of BACKENDS) {
  const train = (threads: number) => {
    const { graph, table, train } = model();
    return withSession(graph, { backend, batchSize: BATCH, threads, deterministic: true, seed: 4 }, async (session) => {
      for (let step = 0; step < STEPS; step++) await session.run([train], { ids: batch(step) });
      return ml.tables.HashTable.of(session, table).lookup(ids.subarray(0, 200));
    });
  };

  t.test(`sessions of any number of threads and calls of a table round alike, on ${backend}`, async (t) => {
    const one = await train(1);
    t.same(await train(3), one, 'three threads');
    t.same(await train(3), one, 'three threads again');
    if (backend === 'reference') return;
    const table = new TableFixture(backend, { seed: 4 }).table(rounded(0.1));
    for (let step = 0; step < STEPS; step++) {
      const unique = batch(step).values;
      const w = table.lookup(unique);
      // New ids read as zeros and begin with the first weight, by which their first step goes in the session too.
      const gradients = w.map((x) => Math.fround(Math.fround(2 * x) / BATCH));
      table.optimize(unique, gradients, { globalStep: step });
    }
    t.same(table.lookup(ids.subarray(0, 200)), one, 'calls');
  });

  t.test(`a graph that counts no steps draws anew in each, on ${backend}`, async (t) => {
    const first = 1638 * SPACING;
    const graph = new ml.Graph();
    const table = rounded(first);
    const x = ml.ops.embeddingLookup(ml.ops.raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }), table);
    const loss = ml.ops.scale(ml.ops.reduceSum(x), 5e-6);
    const update = ml.ops.applyEmbeddingGradients([[ml.ops.gradients([loss], [x])[0]!, x]]);
    await withSession(graph, { backend, batchSize: BATCH, threads: 2 }, async (session) => {
      for (let step = 0; step < 60; step++) await session.run([...update], { ids: batch(0) });
      const weights = ml.tables.HashTable.of(session, table).lookup(batch(0).values);
      t.ok(stayed(weights, first) < 0.05, 'few stay', { stayed: stayed(weights, first) });
    });
  });
}
