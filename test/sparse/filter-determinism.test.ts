import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { sessionRegion } from '../../src/runtime/session/session-handle.js';
import { restoreFilter, saveFilter } from '../../src/sparse/admission/filter-files.js';
import { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import { fidV2 } from '../../src/sparse/config/fid.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { restoreTable } from '../../src/sparse/files/restore-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { stream } from '../kernels/both.js';
import { raggedOf, withSession } from '../runtime/with-session.js';

const [BATCH, STEPS, SEED] = [128, 24, 5];
const APART = { memoryBytes: 16 << 20, tableBytes: 12 << 20, bankBytes: (4 << 20) + 65536 };
const thresholds = { defaultOccurrenceThreshold: 2 };

/** Two tables that share a filter. */
function model() {
  const graph = new Graph();
  const initializer = ZerosInitializer();
  const tables = ['a', 'b'].map((name, i) =>
    defineTable(name, [{ dim: i + 1, initializer, optimizer: SgdOptimizer(), learningRate: 1 }]),
  );
  const lookups = tables.map((table) =>
    embeddingLookup(raggedPlaceholder(graph, { name: `ids of ${table.name}`, valuesPerRow: 1 }), table),
  );
  const loss = reduceMean(addN(lookups.map((lookup) => reduceSum(lookup, { axis: 'columns' }))));
  const grads = gradients([loss], lookups) as Tensor[];
  const updates = applyEmbeddingGradients(grads.map((grad, i) => [grad, lookups[i]!] as const));
  return { graph, tables, train: group(graph, [increment(globalStep(graph)), ...updates]) };
}

/** Ids of which many come once, and so many that the filter moves on a few times and its cells are in dispute. */
function feeds(step: number) {
  const next = stream(SEED * 1000 + step);
  const ids = (slot: number) =>
    raggedOf(Array.from({ length: BATCH }, () => [fidV2(slot, BigInt(Math.floor(next() ** 3 * 20_000)))]));
  return { 'ids of a': ids(1), 'ids of b': ids(2) };
}

type Resume = (session: Session, tables: readonly HashTable[], filter: HashFilter) => Promise<void>;

/** All that steps `from` to `end` leave behind. */
async function learnt(options: Partial<SessionOptions>, from = 0, end = STEPS, before?: Resume, after?: Resume) {
  const { graph, tables: configs, train } = model();
  return withSession(graph, { batchSize: BATCH, ...options }, async (session) => {
    const filter = HashFilter.sliding({ ...sessionRegion(session), capacity: 600, thresholds });
    const tables = configs.map((config) => HashTable.of(session, config, { filter }));
    await before?.(session, tables, filter);
    for (let step = from; step < end; step++) await session.run([train], feeds(step));
    await after?.(session, tables, filter);
    const { splits } = filter.geometry;
    return {
      rows: tables.map((table) => [...table.rows()].map(({ id, weights }) => `${id}: ${weights}`)),
      words: (['head', 'headIncrement'] as const).map((name) => filter.word(name)),
      failures: filter.failureCount,
      cells: Array.from({ length: splits }, (_, split) => [filter.splitElements[split], filter.cells(split).join()]),
    };
  });
}

t.test(`a filter gives the same for any number of threads, if asked (seed ${SEED})`, async (t) => {
  const deterministic = true;
  const one = await learnt({ threads: 1, deterministic });
  t.ok(one.words[1]! > 3, 'the filter moved on');
  t.ok(one.rows.every((rows) => rows.length > 100));
  for (const threads of [2, 3, 5, 8]) {
    t.same(await learnt({ threads, deterministic }), one, `${threads} threads`);
  }
  t.same(await learnt({ threads: 1, deterministic, ...APART }), one, 'banks');
  t.same(await learnt({ threads: 3, deterministic, ...APART }), one, 'banks, 3 threads');
  t.same(await learnt({ threads: 2, deterministic, backend: 'reference' }), one, 'the reference');
});

t.test(`a filter gives the same from run to run on several threads (seed ${SEED})`, async (t) => {
  for (const options of [{ threads: 3 }, { threads: 3, ...APART }]) {
    t.same(await learnt(options), await learnt(options), JSON.stringify(options));
  }
});

t.test(`training that goes on from files of a filter is as if it had not stopped (seed ${SEED})`, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'filter-determinism-'));
  try {
    for (const threads of [1, 2]) {
      const whole = await learnt({ threads });
      const save: Resume = async (_, tables, filter) => {
        for (const table of tables) await saveTable(table, join(dir, `${threads}-${table.name}`));
        await saveFilter(filter, join(dir, `${threads}-filter`));
      };
      const restore: Resume = async (_, tables, filter) => {
        for (const table of tables) await restoreTable(table, join(dir, `${threads}-${table.name}`));
        await restoreFilter(filter, join(dir, `${threads}-filter`));
      };
      await learnt({ threads }, 0, STEPS / 2, undefined, save);
      t.same(await learnt({ threads }, STEPS / 2, STEPS, restore), whole, `${threads} threads`);
    }
  } finally {
    await rm(dir, { recursive: true });
  }
});
