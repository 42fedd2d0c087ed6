import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { restoreTable } from '../../src/sparse/files/restore-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { raggedOf, withSession } from '../runtime/with-session.js';

const [BATCH, STEPS] = [256, 40];
const policy = { memoryBytes: 64 << 20, tablePolicy: { whenFull: 'stop-admitting' } } as const;

const definition = (name: string, dim: number) =>
  defineTable(name, [{ dim, initializer: ZerosInitializer(), optimizer: SgdOptimizer({ learningRate: 1 }) }]);

/** Trains two tables on more ids than fit; gives the ids that got a row. */
async function admitted(options: Partial<SessionOptions>) {
  const graph = new Graph();
  const tables = [definition('narrow', 4), definition('wide', 16)];
  const lookups = tables.map((table) =>
    embeddingLookup(raggedPlaceholder(graph, { name: table.name, valuesPerRow: 1 }), table),
  );
  const loss = reduceMean(addN(lookups.map((lookup) => reduceSum(lookup, { axis: 'columns' }))));
  const grads = gradients([loss], lookups) as Tensor[];
  const updates = applyEmbeddingGradients(grads.map((grad, i) => [grad, lookups[i]!] as const));
  return withSession(graph, { batchSize: BATCH, ...policy, ...options }, async (session) => {
    const ids = (step: number) => raggedOf(Array.from({ length: BATCH }, (_, i) => [BigInt(step * 200 + i)]));
    for (let step = 0; step < STEPS; step++) await session.run([...updates], { narrow: ids(step), wide: ids(step) });
    return tables.map((config) => {
      const table = HashTable.of(session, config);
      return { ids: [...table.rows()].map(({ id, weights }) => `${id} ${weights[0]}`), over: table.passedOver };
    });
  });
}

t.test('which ids of a full table get a row does not depend on threads', async (t) => {
  const [deterministic, tableBytes] = [true, 1 << 20];
  const one = await admitted({ threads: 1, deterministic, tableBytes });
  t.ok(one.every(({ ids, over }) => ids.length > 500 && over > 500));
  for (const threads of [2, 3, 5, 8]) {
    t.same(await admitted({ threads, deterministic, tableBytes }), one, `${threads} threads`);
  }
  t.same(await admitted({ threads: 2, deterministic, tableBytes, backend: 'reference' }), one, 'the reference');
  t.same(await admitted({ threads: 3, tableBytes }), await admitted({ threads: 3, tableBytes }), 'from run to run');
});

t.test('a table that filled its memory can be saved and restored in as much', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'full-'));
  try {
    for (const [budgetBytes, dim, banks] of [
      [1 << 20, 16, 1],
      [1 << 20, 3, 1],
      [2 << 20, 64, 1],
      [3_000_000, 5, 1],
      [4 << 20, 8, 2],
    ] as const) {
      const memory = () =>
        TableMemory.create({ budgetBytes, bankBytes: Math.ceil(budgetBytes / banks / 65536) * 65536 + 65536 });
      const config = definition('t', dim);
      const full = HashTable.create(await memory(), config, { whenFull: 'stop-admitting' });
      const n = Math.ceil(budgetBytes / 16);
      const ids = BigInt64Array.from({ length: n }, (_, i) => BigInt(i * 7));
      full.optimize(ids, new Float32Array(n * dim).fill(-1));
      t.ok(full.passedOver > 0);
      const base = join(dir, `${budgetBytes}-${dim}`);
      await saveTable(full, base);
      const again = HashTable.create(await memory(), config, { whenFull: 'stop-admitting' });
      const { rows } = await restoreTable(again, base);
      t.equal(rows, full.size, `${rows} rows in ${budgetBytes} bytes`);
      t.same(again.contains(ids), full.contains(ids));
    }
  } finally {
    await rm(dir, { recursive: true });
  }
});

t.test('what shares of partitions held is for others when their tables are gone', async (t) => {
  const memory = await TableMemory.create({ budgetBytes: 2 << 20 });
  const sizes = [0, 1, 2].map((turn) => {
    const table = HashTable.create(memory, definition('t', 8), { whenFull: turn === 1 ? 'fail' : 'stop-admitting' });
    const n = turn === 1 ? 9000 : 60_000;
    table.assign(
      BigInt64Array.from({ length: n }, (_, i) => BigInt(i)),
      new Float32Array(n * 8),
    );
    const { size } = table;
    table.dispose();
    return size;
  });
  t.equal(sizes[1], 9000);
  t.ok(sizes[2]! > 0.9 * sizes[0]!, `${sizes}`);
});
