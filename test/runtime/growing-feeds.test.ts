import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { Session } from '../../src/runtime/session/session.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { BACKENDS, raggedOf, withSession } from './with-session.js';

const idsOf = (count: number) => Array.from({ length: count }, (_, id) => BigInt(id));

function graphOf(options: { readonly valuesPerRow?: number; readonly rowMax?: number }) {
  const graph = new Graph();
  const ids = raggedPlaceholder(graph, { name: 'ids', ...options });
  const looked = embeddingLookup(ids, defineTable('t', [{ dim: 1 }]));
  return { graph, looked, mean: reduceMean(looked) };
}

t.test('the same batch passes with any number of threads', async (t) => {
  // Four ids in each of the first rows, none in the others: the first slice has all there are.
  const rows = Array.from({ length: 64 }, (_, row) => (row < 32 ? idsOf(4) : []));
  for (const backend of BACKENDS) {
    for (const threads of [1, 2, 4]) {
      const { graph, looked } = graphOf({ valuesPerRow: 2 });
      await withSession(graph, { backend, batchSize: 64, threads }, async (session) => {
        t.same(await session.run([looked], { ids: raggedOf(rows) }), [new Float32Array(64)]);
        const more = raggedOf([idsOf(1), ...rows.slice(1, 63), idsOf(3)]);
        t.same(await session.run([looked], { ids: more }), [new Float32Array(64)], 'fewer in the first row');
        const error = { code: 'ML_FEED', message: /129 values in the batch are more than the 128 planned for/ };
        await t.rejects(session.run([looked], { ids: raggedOf([...rows.slice(0, 63), idsOf(1)]) }), error);
      });
    }
  }
});

t.test('a feed without a number has room for what comes, of every program', async (t) => {
  for (const backend of BACKENDS) {
    const { graph, looked, mean } = graphOf({});
    await withSession(graph, { backend, threads: 2 }, async (session) => {
      for (const count of [1, 100, 3, 5000, 5001, 0]) {
        t.same(await session.run([looked], { ids: raggedOf([idsOf(count), []]) }), [new Float32Array(2)], `${count}`);
        t.same(await session.run([looked, mean], { ids: raggedOf([idsOf(count)]) }), [new Float32Array(1), 0]);
      }
      // Two runs at once: the second was asked for before the first made its program again.
      const both = [20_000, 40_000].map((count) => session.run([mean], { ids: raggedOf([idsOf(count)]) }));
      t.same(await Promise.all(both), [[0], [0]]);
    });
  }
});

t.test('a program is made again a few times, and not for each batch that is a little larger', async (t) => {
  const { graph, looked } = graphOf({});
  await withSession(graph, { threads: 1, batchSize: 8 }, async (session) => {
    const made = new Set<number>();
    for (let count = 1; count <= 3000; count += 7) {
      await session.run([looked], { ids: raggedOf([idsOf(count)]) });
      made.add(used(session));
    }
    // 128, 256, 512, 1024, 2048, 4096; feeds that are written are a block that grows as well.
    t.ok(made.size <= 20, `${made.size} sizes of the memory in use`);
  });
});

t.test('a row beyond all reason is refused with how to have it nevertheless', async (t) => {
  const { graph, looked } = graphOf({ rowMax: 1000 });
  await withSession(graph, { threads: 2 }, async (session) => {
    const error = { code: 'ML_FEED', message: /row 1 has 1001 values, and one may have 1000/, hint: /rowMax of 1001/ };
    await t.rejects(session.run([looked], { ids: raggedOf([[], idsOf(1001)]) }), error);
    t.same(await session.run([looked], { ids: raggedOf([[], idsOf(1000)]) }), [new Float32Array(2)]);
  });
  t.throws(() => graphOf({ rowMax: 0 }), { code: 'ML_GRAPH', message: /rows cannot have 0 values/ });
  t.throws(() => graphOf({ rowMax: 3, valuesPerRow: 1 }), { code: 'ML_GRAPH', message: /rowMax goes without/ });
});

t.test('more than the memory of a session has room for is an error, and the session goes on', async (t) => {
  const { graph, looked } = graphOf({});
  await withSession(graph, { threads: 1, memoryBytes: 8 << 20 }, async (session) => {
    await t.rejects(session.run([looked], { ids: raggedOf([idsOf(150_000)]) }), { code: 'ML_MEMORY' });
    t.same(await session.run([looked], { ids: raggedOf([idsOf(10)]) }), [new Float32Array(1)]);
  });
});

const used = (session: Session): number => coreOf(session).arena.used;
