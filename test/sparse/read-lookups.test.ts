import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { stopGradient } from '../../src/graph/ops/cast.js';
import { columns } from '../../src/graph/ops/columns.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { idsPlaceholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { sessionRegion } from '../../src/runtime/session/session-handle.js';
import { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import { ConstantsInitializer } from '../../src/sparse/config/initializers.js';
import * as optimizers from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable, type TableOptions } from '../../src/sparse/table/hash-table.js';
import { TouchedPairSet } from '../../src/sparse/table/touched-pair-set.js';
import { withSimulated } from '../cuda/simulated.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';

const [BATCH, STEPS] = [12, 8];
const APART = { memoryBytes: 16 << 20, tableBytes: 12 << 20, bankBytes: (4 << 20) + 65536 };

/** A table with two features that are trained, one of lists and one of columns, and two that are only read. */
function model(optimizer = optimizers.AdamOptimizer({ learningRate: 0.1 })) {
  const graph = new Graph();
  const config = defineTable('t', [{ dim: 2, initializer: ConstantsInitializer(0.5), optimizer }]);
  const block = idsPlaceholder(graph, { name: 'block', width: 3 });
  const [read, trained] = [columns(block, 0, 2), columns(block, 1, 3)];
  const readList = embeddingLookup(raggedPlaceholder(graph, { name: 'readList', valuesPerRow: 4 }), config);
  const readBlock = embeddingLookup(read, config, { name: 'readBlock' });
  const list = embeddingLookup(raggedPlaceholder(graph, { name: 'list', valuesPerRow: 4 }), config);
  const trainedBlock = embeddingLookup(trained, config, { name: 'trainedBlock' });
  const loss = reduceMean(rowDot(list, trainedBlock));
  const beside = [readList, readBlock].map((lookup) => reduceSum(lookup, { axis: 'columns' }));
  const lookups = [list, trainedBlock];
  const grads = gradients([loss], lookups) as Tensor[];
  const pairs = grads.map((grad, i) => [grad, lookups[i]!] as const);
  return { graph, config, loss, beside, pairs };
}

function feeds(step: number) {
  const next = stream(step + 11);
  const id = () => (1n << 48n) + (BigInt(Math.floor(next() * 60)) << 17n);
  const list = () => raggedOf(Array.from({ length: BATCH }, () => Array.from({ length: Math.floor(next() * 5) }, id)));
  return { list: list(), readList: list(), block: BigInt64Array.from({ length: BATCH * 3 }, id) };
}

/** All there is of a table. */
const contents = (table: HashTable) =>
  [...table.rows()].map(({ id, weights, state, lastUpdateSec }) => [id, [...weights], [...state], lastUpdateSec]);

async function learnt(
  session: Partial<SessionOptions>,
  fetchesMore: boolean,
  tableOptions: (session: Session) => TableOptions = () => ({}),
) {
  const { graph, config, pairs, beside } = model();
  const updates = applyEmbeddingGradients(pairs);
  return withSession(graph, { batchSize: BATCH, ...session }, async (session) => {
    const options = tableOptions(session);
    const table = HashTable.of(session, config, options);
    for (let step = 0; step < STEPS; step++) {
      // Rows that are made from here on are younger.
      if (step === 5) table.assign(BigInt64Array.of(1n), new Float32Array(2), { timeSec: 1000 });
      await session.run([...updates, ...(fetchesMore ? beside : [])], feeds(step));
    }
    const touched = (options.touchedKeys?.set as TouchedPairSet | undefined)?.stealByTable();
    const { filter } = options;
    const counts = filter instanceof HashFilter ? filter.get(BigInt64Array.from(ids())) : undefined;
    return {
      rows: contents(table),
      touched: touched && [...touched].map(([table, ids]) => [table, [...ids].sort()]),
      counts,
    };
  });
}

function* ids() {
  for (let i = 0n; i < 60n; i++) yield (1n << 48n) + (i << 17n);
}

const gated = (session: Session): TableOptions => ({
  filter: HashFilter.sliding({
    ...sessionRegion(session),
    capacity: 10_000,
    thresholds: { slotOccurrenceThresholds: [{ slot: 1, occurrenceThreshold: 6 }] },
  }),
  touchedKeys: {
    set: new TouchedPairSet({ ...sessionRegion(session), capacity: 10_000, concurrencyLevel: 16 }),
    tableIndex: 3,
  },
});

t.test('what is fetched beside an update does not change what is learnt', async (t) => {
  for (const backend of BACKENDS) {
    const ways: Record<string, Partial<SessionOptions>> = {
      'three threads': { backend, threads: 3 },
      banks: { backend, threads: 2, ...APART },
    };
    for (const [way, session] of Object.entries(ways)) {
      const [more, less] = [await learnt(session, true, gated), await learnt(session, false, gated)];
      t.same(more, less, `${backend}, ${way}, with a filter and touched ids`);
      t.ok(less.rows.length > 10 && less.rows.length < 60, 'the filter keeps some out');
    }
  }
});

t.test(
  'what is fetched beside an update does not change what is learnt on a device',
  withSimulated(async (t) => {
    const cuda = { backend: 'cuda', cuda: { driver: 'sim' } } as const;
    for (const session of [cuda, { ...cuda, useGpuEmbTable: true }]) {
      t.same(await learnt(session, true), await learnt(session, false), JSON.stringify(session));
    }
  }),
);

t.test('an id that a step only reads keeps its row, and gets none, whatever the optimizer', async (t) => {
  const rate = { learningRate: 0.1 };
  const all = {
    momentum: optimizers.MomentumOptimizer(rate),
    decay: optimizers.AdagradOptimizer({ ...rate, weightDecayFactor: 0.1 }),
    lasso: optimizers.AdaGradWithGroupLassoOptimizer({ ...rate, l2Regularization: 0.5 }),
  };
  for (const [name, optimizer] of Object.entries(all)) {
    for (const backend of BACKENDS) {
      const graph = new Graph();
      const config = defineTable('t', [{ dim: 2, initializer: ConstantsInitializer(0.5), optimizer }]);
      const trained = embeddingLookup(raggedPlaceholder(graph, { name: 'a', valuesPerRow: 1 }), config);
      const frozen = stopGradient(embeddingLookup(raggedPlaceholder(graph, { name: 'b', valuesPerRow: 1 }), config));
      const loss = reduceMean(rowDot(trained, frozen));
      const [grad] = gradients([loss], [trained]) as [Tensor];
      const updates = applyEmbeddingGradients([[grad, trained]]);
      await withSession(graph, { backend, batchSize: 1, threads: 1 }, async (session) => {
        const table = HashTable.of(session, config);
        const step = (a: bigint, b: bigint) =>
          session.run([loss, ...updates], { a: raggedOf([[a]]), b: raggedOf([[b]]) });
        table.assign(BigInt64Array.of(2n), Float32Array.of(1, 1));
        for (let i = 0; i < 3; i++) await step(1n, 2n);
        const before = contents(table).filter(([id]) => id === 1n);
        for (let i = 0; i < 3; i++) await step(3n, 1n);
        await step(3n, 9n);
        const after = contents(table);
        t.same(
          after.filter(([id]) => id === 1n),
          before,
          `${name}, ${backend}`,
        );
        t.same(
          after.map(([id]) => id),
          [1n, 2n, 3n],
          'and 9 has no row',
        );
      });
    }
  }
});

t.test('several updates of one table step an id once, by the sum of its gradients', async (t) => {
  for (const options of [{ threads: 2 }, { threads: 2, ...APART }]) {
    const run = async (split: boolean) => {
      const { graph, config, pairs } = model();
      const updates = split ? pairs.flatMap((pair) => applyEmbeddingGradients([pair])) : applyEmbeddingGradients(pairs);
      return withSession(graph, { batchSize: BATCH, ...options }, async (session) => {
        for (let step = 0; step < STEPS; step++) await session.run([...updates], feeds(step));
        return contents(HashTable.of(session, config));
      });
    };
    t.same(await run(true), await run(false));
  }
});
