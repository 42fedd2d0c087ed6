/** @file Rows outside of the session: times, rates, what cannot be, and threads that end. */
import t from 'tap';
import { PolynomialDecay } from '../../src/base/rates/schedules.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import {
  globalStep,
  group,
  idsPlaceholder,
  increment,
  placeholder,
  raggedPlaceholder,
} from '../../src/graph/ops/state.js';
import { LocalRows, type RowLease, type RowStore } from '../../src/runtime/session/row-store.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable, type TableConfig } from '../../src/sparse/config/table-config.js';
import { BankRows } from '../../src/sparse/many/bank-rows.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';

const RATE = new PolynomialDecay({ initialLearningRate: 1, decaySteps: 4, endLearningRate: 0 });
const BUDGET = { budgetBytes: 4 << 20 };

/** Two tables that go by one time, of which one has a rate by step. */
function model() {
  const graph = new Graph();
  const reqTime = idsPlaceholder(graph, { name: 'req_time' });
  const configs: TableConfig[] = ['a', 'b'].map((name, i) =>
    defineTable(name, [{ dim: 3, optimizer: SgdOptimizer(), learningRate: i === 0 ? RATE : 0.5 }], {
      defaultExpireTime: 3,
    }),
  );
  const lookups = configs.map((config) =>
    embeddingLookup(raggedPlaceholder(graph, { name: config.name, valuesPerRow: 4 }), config),
  );
  const seed = placeholder(graph, { name: 'seed', width: 3 });
  const pairs = lookups.map((lookup) => [gradients([lookup], [lookup], { gradYs: [seed] })[0]!, lookup] as const);
  const trainOp = group(graph, [...applyEmbeddingGradients(pairs, { reqTime }), increment(globalStep(graph))]);
  return { graph, configs, trainOp };
}

const feedsOf = (a: bigint[][], b: bigint[][], times: readonly number[]) => ({
  a: raggedOf(a),
  b: raggedOf(b),
  req_time: BigInt64Array.from(times, BigInt),
  seed: new Float32Array(a.length * 3).fill(1),
});
const FEEDS = [
  feedsOf([[1n], [2n], [1n]], [[-4n], [], [9n]], [100, 300, 200]),
  feedsOf([[2n], [3n]], [[], []], [250, 240]),
  feedsOf([[3n, 5n]], [[9n]], [400]),
];

const rowsOf = (tables: readonly HashTable[]) =>
  tables
    .flatMap((table) => [...table.rows()])
    .map(({ id, lastUpdateSec, weights }) => [id, lastUpdateSec, [...weights]] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));

t.test('rows outside have the times, and the rates of the steps, that rows of the session have', async (t) => {
  const { graph, configs, trainOp } = model();
  const wanted = await withSession(graph, { threads: 1 }, async (session) => {
    for (const feeds of FEEDS) await session.run([trainOp], feeds);
    return configs.map((config) => rowsOf([HashTable.of(session, config)]));
  });
  t.same(
    wanted[0]!.map(([id, time]) => [id, time]),
    [
      [1n, 300],
      [2n, 250],
      [3n, 400],
      [5n, 400],
    ],
  );
  for (const owners of [1, 3]) {
    const again = model();
    const rows = await BankRows.create(again.configs, { owners, ...BUDGET });
    // A memory of 4 GiB, as a session has it by default: views of it cannot be sent to a thread.
    const memoryBytes = owners === 1 ? 2 ** 32 : 2 ** 25;
    await withSession(again.graph, { threads: 2, rows, postpush: true, memoryBytes }, async (session) => {
      for (const feeds of FEEDS) await session.run([again.trainOp], feeds);
      await session.drain();
    });
    const all = Array.from({ length: rows.owners }, (_, owner) => rows.tables(owner));
    t.same(
      [0, 1].map((index) => rowsOf(all.map((tables) => tables[index]!))),
      wanted,
    );
    t.same(
      all.map((tables) => Math.max(...tables.map(({ maxUpdateSec }) => maxUpdateSec))),
      Array.from({ length: owners }, () => 400),
      'every owner knows the time, whoever has ids of the batch',
    );
    t.throws(() => rows.tables(owners), { code: 'ML_FLAG' });
    await rows.close();
  }
});

t.test('a store of one’s own is told the request time of each batch', async (t) => {
  const local = new LocalRows();
  const times: (number | undefined)[] = [];
  const rows: RowStore = {
    pull: (lease) => local.pull(lease),
    push: (lease: RowLease) => {
      times.push(...lease.tables.map(({ requestTime }) => requestTime));
      return local.push(lease);
    },
  };
  const { graph, trainOp } = model();
  await withSession(graph, { threads: 2, rows, postpush: true }, async (session) => {
    for (const feeds of FEEDS) await session.run([trainOp], feeds);
    await session.drain();
  });
  t.same(times, [300, 300, 250, 250, 400, 400]);
});

t.test('tables that it does not know or cannot keep are refused', async (t) => {
  const { graph, configs, trainOp } = model();
  const rows = await BankRows.create(configs.slice(0, 1), BUDGET);
  await withSession(graph, { rows }, async (session) => {
    await t.rejects(session.run([trainOp], FEEDS[0]!), { code: 'ML_GRAPH', message: /without this table/ });
  });
  await rows.close();
  const filtered = { ...configs[0]!, admission: { thresholds: { defaultOccurrenceThreshold: 2 } } };
  await t.rejects(BankRows.create([filtered], BUDGET), { code: 'ML_GRAPH', message: /filter/ });
});

t.test('the end of its threads ends the run', async (t) => {
  const { graph, configs, trainOp } = model();
  const rows = await BankRows.create(configs, BUDGET);
  await withSession(graph, { rows }, async (session) => {
    await session.run([trainOp], FEEDS[0]!);
    await rows.close();
    await t.rejects(session.run([trainOp], FEEDS[1]!), { code: 'ML_WORKER' });
  });
});

t.test(
  'what is packed for an owner is what the tables have, in the order of their names and without gaps',
  async (t) => {
    const local = new LocalRows();
    let packs = 0;
    const check = async (lease: RowLease, what: 'rows' | 'gradients'): Promise<void> => {
      const packed = what === 'rows' ? await lease.packIds() : await lease.packGradients();
      const tables = [...lease.tables].sort((a, b) => (a.name < b.name ? -1 : 1));
      packed.forEach((part, owner) => {
        t.same(
          part.tables.map(({ name }) => name),
          ['a', 'b'],
        );
        t.same(
          [...part.ids],
          tables.flatMap(({ parts }) => [...parts[owner]!.ids]),
        );
        if (what === 'rows') return;
        const floats = tables.flatMap(({ dim, stride, parts }) => {
          const { trained, gradients } = parts[owner]!;
          return Array.from({ length: trained }, (_, i) => [
            ...gradients.subarray(i * stride, i * stride + dim),
          ]).flat();
        });
        t.same([...part.gradients], floats);
        packs++;
      });
      if (what === 'gradients') return;
      for (const part of packed) part.rows.fill(0.25);
      await lease.unpackRows();
      for (const { dim, stride, parts } of tables) {
        for (const { ids, rows } of parts) {
          for (let i = 0; i < ids.length; i++)
            t.ok(rows.subarray(i * stride, i * stride + dim).every((x) => x === 0.25));
        }
      }
    };
    const rows: RowStore = {
      owners: 2,
      pull: async (lease) => {
        await check(lease, 'rows');
        await local.pull(lease);
      },
      push: async (lease) => {
        await check(lease, 'gradients');
        await local.push(lease);
      },
    };
    for (const backend of BACKENDS) {
      const { graph, trainOp } = model();
      await withSession(graph, { threads: 2, rows, prefetch: 1, backend }, async (session) => {
        for (const feeds of FEEDS) await session.run([trainOp], feeds);
      });
    }
    t.ok(packs >= 12);
  },
);
