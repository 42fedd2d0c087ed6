import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { concatColumns } from '../../src/graph/ops/columns.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { globalStep, group, increment, placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import { ConstantsInitializer, ZerosInitializer } from '../../src/sparse/config/initializers.js';
import {
  BatchSoftmaxOptimizer,
  FixedR8Compressor,
  Fp16Compressor,
  OneBitCompressor,
  SgdOptimizer,
} from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { BACKENDS, openSession, raggedOf, withSession } from '../runtime/with-session.js';

const table = (name: string, dim: number) =>
  defineTable(name, [{ dim, initializer: ConstantsInitializer(1), optimizer: SgdOptimizer(), learningRate: 1 }]);

for (const backend of BACKENDS) {
  t.test(`an update works although nothing needs the lookup itself (${backend})`, async (t) => {
    const graph = new Graph();
    const [users, items] = [
      raggedPlaceholder(graph, { name: 'users', valuesPerRow: 3 }),
      raggedPlaceholder(graph, { name: 'items', valuesPerRow: 3 }),
    ];
    const [left, right] = [table('left', 2), table('right', 2)];
    const [u, v] = [embeddingLookup(users, left), embeddingLookup(items, right)];
    const [grad] = gradients([reduceMean(rowDot(u, v))], [u]) as [Tensor];
    const [update] = applyEmbeddingGradients([[grad, u]]) as [Op];
    await withSession(graph, { backend }, async (session) => {
      HashTable.of(session, right).restore([
        { id: 5n, lastUpdateSec: 0, weights: Float32Array.of(2, 4), state: new Float32Array() },
      ]);
      await session.run([update], { users: raggedOf([[1n, 1n], [2n]]), items: raggedOf([[5n], [5n, 5n]]) });
      const rows = [...HashTable.of(session, left).rows()];
      t.same(
        rows.map((row) => [row.id, [...row.weights]]),
        // User 1 occurs twice with half of [2, 4] each time, user 2 once with half of [4, 8]; rows start at 1.
        [
          [1n, [-1, -3]],
          [2n, [-1, -3]],
        ],
      );
      t.equal(HashTable.of(session, right).size, 1, 'a table that is only read does not grow');
    });
  });

  t.test(`features of one table share rows, and a lookup may be part of a wider matrix (${backend})`, async (t) => {
    const graph = new Graph();
    const shared = table('shared', 3);
    const [a, b] = [
      raggedPlaceholder(graph, { name: 'a', valuesPerRow: 4 }),
      raggedPlaceholder(graph, { name: 'b', valuesPerRow: 4 }),
    ];
    const dense = placeholder(graph, { name: 'dense', width: 2 });
    const lookups = [embeddingLookup(a, shared), embeddingLookup(b, shared)] as const;
    const wide = concatColumns([lookups[0], dense, lookups[1]]);
    const seed = placeholder(graph, { name: 'seed', width: 8 });
    const grads = gradients([wide], lookups, { gradYs: [seed] }) as [Tensor, Tensor];
    const updates = applyEmbeddingGradients(grads.map((grad, i) => [grad, lookups[i]!] as const));
    t.equal(updates.length, 1, 'one update per table');
    await withSession(graph, { backend, threads: 3 }, async (session) => {
      const feeds = {
        a: raggedOf([[7n, 8n], [], [7n], []]),
        b: raggedOf([[8n], [9n, 9n], [], []]),
        dense: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8),
        seed: Float32Array.from({ length: 32 }, (_, i) => i % 8),
      };
      await session.run([...updates], feeds);
      const [found] = await session.run([wide], feeds);
      // Gradients per occurrence: [0, 1, 2] in a and [5, 6, 7] in b. 7: two of a. 8: one of each. 9: two of b.
      const [seven, eight, nine] = [
        [1, -1, -3],
        [-4, -6, -8],
        [-9, -11, -13],
      ] as const;
      const plus = (x: readonly number[], y: readonly number[]) => x.map((value, i) => value + y[i]!);
      t.same(found, [
        ...[...plus(seven, eight), 1, 2, ...eight],
        ...[0, 0, 0, 3, 4, ...plus(nine, nine)],
        ...[...seven, 5, 6, 0, 0, 0],
        ...[0, 0, 0, 7, 8, 0, 0, 0],
      ]);
    });
  });

  t.test(`a table that outgrows the memory fails the session with what to do (${backend})`, async (t) => {
    const graph = new Graph();
    const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 500 });
    const looked = embeddingLookup(ids, table('big', 64));
    const seed = placeholder(graph, { name: 'seed', width: 64 });
    const updates = applyEmbeddingGradients([[gradients([looked], [looked], { gradYs: [seed] })[0]!, looked]]);
    const session = await openSession(graph, { backend, threads: 2, batchSize: 2, memoryBytes: 4 << 20 });
    const grow = async () => {
      for (let step = 0; step < 100; step++) {
        const rows = [0, 1].map((r) => Array.from({ length: 400 }, (_, i) => BigInt(step * 1000 + r * 400 + i)));
        await session.run([...updates], { ids: raggedOf(rows), seed: new Float32Array(128) });
      }
    };
    await t.rejects(grow(), { code: 'ML_MEMORY', message: /table big/, hint: /tableBytes/ });
    await session.close();
  });
}

t.test('a quantizing table shows what serving would read, and trains the weights behind it', async (t) => {
  for (const backend of BACKENDS) {
    const graph = new Graph();
    const quantized = defineTable('quantized', [
      {
        dim: 2,
        initializer: ConstantsInitializer(0.3),
        optimizer: SgdOptimizer(),
        compressor: FixedR8Compressor(),
        learningRate: 1,
      },
      {
        dim: 1,
        initializer: ConstantsInitializer(0.5),
        optimizer: SgdOptimizer(),
        compressor: OneBitCompressor(200, 2),
        learningRate: 1,
      },
    ]);
    const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 3 });
    const looked = embeddingLookup(ids, quantized);
    const seed = placeholder(graph, { name: 'seed', width: 3 });
    const updates = applyEmbeddingGradients([[gradients([looked], [looked], { gradYs: [seed] })[0]!, looked]]);
    await withSession(graph, { backend, threads: 2, batchSize: 4 }, async (session) => {
      const feeds = { ids: raggedOf([[5n], [5n, 6n]]), seed: Float32Array.of(0.01, 0, 0, 0, 0, 0.1) };
      await session.run([...updates], feeds);
      const rows = [...HashTable.of(session, quantized).rows()].map((row) => [...row.weights]);
      // One bit: the gradient goes through 2 * tanh(w), whose slope is 2 * (1 - tanh(w)^2), and both rows had 0.5.
      const slope = 2 * (1 - Math.tanh(0.5) ** 2);
      const expected = [
        [0.3 - 0.01, 0.3, 0.5 - 0.1 * slope],
        [0.3, 0.3, 0.5 - 0.1 * slope],
      ];
      t.ok(
        rows.flat().every((value, i) => Math.abs(value - expected.flat()[i]!) < 1e-6),
        `${backend}: ${rows}`,
      );
      const [shown] = await session.run([looked], feeds);
      const steps = (value: number) => Math.round(value * 128) / 128;
      const show = ([a, b, c]: readonly number[]) => [steps(a!), steps(b!), 2 * Math.tanh(c!)];
      const [five, six] = expected.map(show) as [number[], number[]];
      const pooled = [...five, ...five.map((value, i) => value + six[i]!)];
      t.ok(
        (shown as Float32Array).every((value, i) => Math.abs(value - pooled[i]!) < 1e-5),
        `${backend} shows ${shown}, not ${pooled}`,
      );
      t.same(HashTable.of(session, quantized).lookup(BigInt64Array.of(5n)), (shown as Float32Array).slice(0, 3));
    });
  }
});

t.test('steps warm rates up, count steps for batch_softmax, and refuse gradients that are not finite', async (t) => {
  for (const backend of BACKENDS) {
    const graph = new Graph();
    const counting = defineTable('counting', [
      { dim: 1, optimizer: BatchSoftmaxOptimizer({ learningRate: 0.5 }), initializer: ZerosInitializer() },
      { dim: 1, optimizer: SgdOptimizer({ learningRate: 1, warmupSteps: 2 }), initializer: ZerosInitializer() },
    ]);
    const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 });
    const looked = embeddingLookup(ids, counting);
    const seed = placeholder(graph, { name: 'seed', width: 2 });
    const updates = applyEmbeddingGradients([[gradients([looked], [looked], { gradYs: [seed] })[0]!, looked]]);
    const train = group(graph, [increment(globalStep(graph)), ...updates]);
    const session = await openSession(graph, { backend, threads: 2, batchSize: 2 });
    const step = (value: number) =>
      session.run([train], { ids: raggedOf([[1n]]), seed: Float32Array.of(value, value) });
    const table = HashTable.of(session, counting, { badGradients: 'fail' });
    for (let i = 0; i < 4; i++) await step(1);
    // Steps seen are 0 to 3: intervals 0, 1, 1, 1 at rate 0.5; rates 0, 0.5, 1, 1.
    t.same([...table.lookup(BigInt64Array.of(1n))], [0.875, -2.5]);
    await t.rejects(step(Number.NaN), { code: 'ML_GRADIENT', message: /gradient of table counting is not finite/ });
    t.equal(table.badGradientRows, 1);
    await session.close();
  }
});

t.test('a step leaves rows alone whose gradient is not finite, and counts them', async (t) => {
  const graph = new Graph();
  const config = table('patient', 1);
  const looked = embeddingLookup(raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }), config);
  const seed = placeholder(graph, { name: 'seed' });
  const [update] = applyEmbeddingGradients([[gradients([looked], [looked], { gradYs: [seed] })[0]!, looked]]) as [Op];
  for (const backend of BACKENDS) {
    await withSession(graph, { backend, threads: 2, batchSize: 4 }, async (session) => {
      const ids = raggedOf([[1n], [2n], [1n], [3n]]);
      await session.run([update], { ids, seed: Float32Array.of(1, 1, 1, 1) });
      await session.run([update], { ids, seed: Float32Array.of(1, 2, Number.NaN, 3) });
      const { badGradientRows } = HashTable.of(session, config);
      const rows = [...HashTable.of(session, config).rows()].map(({ weights }) => weights[0]);
      t.same([badGradientRows, ...rows], [1, -1, -2, -3], backend);
    });
  }
});

t.test('a serving table can be looked up in a graph, and not updated', async (t) => {
  const graph = new Graph();
  const serving = defineTable('serving', [{ dim: 2, compressor: Fp16Compressor() }], { entryType: 'serving' });
  const looked = embeddingLookup(raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 2 }), serving);
  const seed = placeholder(graph, { name: 'seed', width: 2 });
  const [update] = applyEmbeddingGradients([[gradients([looked], [looked], { gradYs: [seed] })[0]!, looked]]) as [Op];
  await withSession(graph, { threads: 1 }, async (session) => {
    HashTable.of(session, serving).assign(BigInt64Array.of(1n, 2n), Float32Array.of(1, 2, 0.5, 4));
    const feeds = {
      ids: raggedOf([
        [1n, 2n],
        [2n, 3n],
      ]),
      seed: new Float32Array(4),
    };
    t.same(await session.run([looked], feeds), [Float32Array.of(1.5, 6, 0.5, 4)]);
    await t.rejects(session.run([update], feeds), { code: 'ML_TABLE_SERVING' });
  });
});

t.test('gradients and ids that do not fit are refused', async (t) => {
  const graph = new Graph();
  const [x, ids] = [
    placeholder(graph, { name: 'x', width: 3 }),
    raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }),
  ];
  const config = table('t', 2);
  t.throws(() => embeddingLookup(x, config), { code: 'ML_GRAPH', message: /a placeholder of ids/ });
  const looked = embeddingLookup(ids, config);
  t.throws(() => embeddingLookup(ids, table('t', 2)), { code: 'ML_GRAPH', message: /another table has this name/ });
  t.throws(() => embeddingLookup(ids, table('wide', 20000)), { code: 'ML_GRAPH', message: /1 to 16384 dimensions/ });
  const missing = gradients([reduceMean(placeholder(graph, { name: 'y' }))], [looked])[0] as unknown as Tensor;
  t.throws(() => applyEmbeddingGradients([[missing, looked]]), { code: 'ML_GRAPH', message: /it has no gradient/ });
  t.throws(() => applyEmbeddingGradients([[x, looked]]), { code: 'ML_GRAPH', message: /3 columns, not 2/ });
});
