import fc from 'fast-check';
import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { sessionRegion } from '../../src/runtime/session/session-handle.js';
import { DummyFilter } from '../../src/sparse/admission/admission-filter.js';
import { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import { ProbabilisticFilter } from '../../src/sparse/admission/probabilistic-filter.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable, type TableOptions } from '../../src/sparse/table/hash-table.js';
import { TouchedKeySet } from '../../src/sparse/table/touched-key-set.js';
import { TouchedPairSet } from '../../src/sparse/table/touched-pair-set.js';
import { raggedOf, withSession } from '../runtime/with-session.js';

const [DIM, BATCH, PER_ROW] = [3, 12, 6];
const THRESHOLDS = new Map([
  [1, 2],
  [2, 5],
  [3, 15],
]);
const thresholds = {
  slotOccurrenceThresholds: [...THRESHOLDS].map(([slot, occurrenceThreshold]) => ({ slot, occurrenceThreshold })),
};
const APART = { memoryBytes: 16 << 20, tableBytes: 12 << 20, bankBytes: (4 << 20) + 65536 };

/** Two features of one table of zeros; each occurrence of an id adds one to its row. */
function model() {
  const graph = new Graph();
  const config = defineTable('t', [
    { dim: DIM, initializer: ZerosInitializer(), optimizer: SgdOptimizer(), learningRate: 1 },
  ]);
  const features = ['a', 'b'].map((name) => raggedPlaceholder(graph, { name, valuesPerRow: PER_ROW }));
  const seed = placeholder(graph, { name: 'seed', width: DIM });
  const lookups = features.map((ids) => embeddingLookup(ids, config));
  const grads = lookups.map((lookup) => gradients([lookup], [lookup], { gradYs: [seed] })[0] as Tensor);
  const updates = applyEmbeddingGradients(grads.map((grad, i) => [grad, lookups[i]!] as const));
  return { graph, config, updates };
}

const slidingIn = (session: Session) =>
  HashFilter.sliding({ ...sessionRegion(session), capacity: 100_000, thresholds });
const pairsIn = (session: Session) =>
  new TouchedPairSet({ ...sessionRegion(session), capacity: 100_000, concurrencyLevel: 16 });

const sorted = (ids: Iterable<bigint>) => BigInt64Array.from(ids).sort();
const byId = (rows: Iterable<readonly [bigint, number]>) => [...rows].sort(([a], [b]) => (a < b ? -1 : 1));

type Batch = { a: bigint[][]; b: bigint[][] };
const feedsOf = ({ a, b }: Batch) => ({
  a: raggedOf(a),
  b: raggedOf(b),
  seed: new Float32Array(a.length * DIM).fill(-1),
});

/** What rows, counts and touches should be: a Map of each. */
class Model {
  readonly rows = new Map<bigint, number>();
  readonly counts = new Map<bigint, number>();
  readonly touched = new Set<bigint>();

  step({ a, b }: Batch): void {
    const seen = new Map<bigint, number>();
    for (const id of [...a.flat(), ...b.flat()]) seen.set(id, (seen.get(id) ?? 0) + 1);
    for (const [id, times] of seen) {
      const threshold = THRESHOLDS.get(Number(id >> 48n)) ?? 0;
      if (!this.rows.has(id) && threshold > 0) {
        const before = this.counts.get(id) ?? 0;
        this.counts.set(id, Math.min(15, before + times));
        if (before < threshold) continue;
      }
      this.rows.set(id, (this.rows.get(id) ?? 0) + times);
      this.touched.add(id);
    }
  }
}

/** Each id has a signature of its own in the filter, so that counts are exact. Some ids come often, most seldom. */
const idOf = (slot: number, low: number) => (BigInt(slot) << 48n) + (BigInt(slot * 512 + low) << 17n);
const id = fc
  .record({ slot: fc.integer({ min: 0, max: 3 }), low: fc.integer({ min: 0, max: 400 }) })
  .map(({ slot, low }) => idOf(slot, low % 2 === 0 ? low : low % 9));
const rows = (n: number) => fc.array(fc.array(id, { maxLength: PER_ROW, size: 'max' }), { minLength: n, maxLength: n });
const batch = fc.integer({ min: 1, max: BATCH }).chain((n) => fc.record({ a: rows(n), b: rows(n) }));
const batches = fc.array(batch, { minLength: 6, maxLength: 14, size: 'max' });

/** Trains a table with a filter on the batches and compares with the model. */
async function check(options: Partial<SessionOptions>, steps: readonly Batch[]): Promise<void> {
  const { graph, config, updates } = model();
  await withSession(graph, { batchSize: BATCH, ...options }, async (session) => {
    const [filter, set] = [slidingIn(session), pairsIn(session)];
    const table = HashTable.of(session, config, { filter, touchedKeys: { set, tableIndex: 9 } });
    const plain = new Model();
    for (const step of steps) {
      await session.run(updates, feedsOf(step));
      plain.step(step);
      const stolen = set.stealByTable();
      t.ok([...stolen.keys()].every((index) => index === 9));
      t.same(sorted(stolen.get(9) ?? []), sorted(plain.touched), 'the ids that got a step are touched');
      plain.touched.clear();
    }
    const found = new Map([...table.rows()].map((row) => [row.id, row.weights[0]!] as const));
    t.same(byId(found), byId(plain.rows));
    const ids = [...plain.counts.keys()];
    t.same([...filter.get(BigInt64Array.from(ids))], [...plain.counts.values()]);
    t.equal(table.passedOver, 0, 'the memory was not full');
    if (!t.passing()) throw new Error('session and model differ');
  });
}

// A session a case: starting its threads takes longer than training it.
const cases: Partial<SessionOptions>[] = [
  { backend: 'wasm', threads: 1 },
  { backend: 'wasm', threads: 2 },
  { backend: 'wasm', threads: 2, deterministic: true },
  { backend: 'wasm', threads: 1, ...APART },
  { backend: 'wasm', threads: 2, ...APART },
  { backend: 'reference', threads: 1 },
  { backend: 'reference', threads: 2, deterministic: true, ...APART },
];
for (const options of cases) {
  t.test(`steps ask the filter as a plain model does (${JSON.stringify(options)})`, async () => {
    await fc.assert(
      fc.asyncProperty(batches, (steps) => check(options, steps)),
      { numRuns: 1 },
    );
  });
}

t.test('a filter keeps ids out of a full table too, and does not make it stop admitting', async (t) => {
  for (const whenFull of ['fail', 'stop-admitting'] as const) {
    const graph = new Graph();
    const config = defineTable('wide', [{ dim: 64, initializer: ZerosInitializer(), optimizer: SgdOptimizer() }]);
    const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 6000 });
    const lookup = embeddingLookup(ids, config);
    const seed = placeholder(graph, { name: 'seed', width: 64 });
    const updates = applyEmbeddingGradients([[gradients([lookup], [lookup], { gradYs: [seed] })[0]!, lookup]]);
    await withSession(graph, { batchSize: 1, threads: 1, tableBytes: 2 << 20 }, async (session) => {
      const table = HashTable.of(session, config, { whenFull, filter: slidingIn(session) });
      const row = (slot: bigint, count: number) =>
        Array.from({ length: count }, (_, i) => (slot << 48n) + (BigInt(i) << 17n));
      const run = (list: bigint[]) =>
        session.run(updates, { ids: raggedOf([list]), seed: new Float32Array(64).fill(1) });
      await run([...row(3n, 5000), ...row(0n, 100)]);
      t.equal(table.size, 100, 'rows for those without a threshold');
      t.equal(table.passedOver, 0, 'kept out is not passed over for want of memory');
      if (whenFull === 'fail') await t.rejects(run(row(0n, 6000)), { code: 'ML_MEMORY' });
      else {
        await run([...row(3n, 1000), ...row(0n, 5000)]);
        t.ok(table.size > 1000);
        t.equal(table.size + table.passedOver, 5000);
      }
    });
  }
});

t.test('a gate that threads of the session cannot reach is refused when the program is made', async (t) => {
  const attempt = async (options: (session: Session) => TableOptions) => {
    const { graph, config, updates } = model();
    await withSession(graph, { batchSize: BATCH, threads: 1 }, async (session) => {
      HashTable.of(session, config, options(session));
      await session.run(updates, feedsOf({ a: [[1n]], b: [[]] }));
    });
  };
  const graph = new Graph();
  await withSession(graph, { threads: 1 }, async (other) => {
    const elsewhere = /session's memory/;
    await t.rejects(
      attempt(() => ({ filter: slidingIn(other) })),
      { code: 'ML_GRAPH', message: elsewhere },
    );
    await t.rejects(
      attempt(() => ({ touchedKeys: { set: pairsIn(other), tableIndex: 0 } })),
      { message: elsewhere },
    );
  });
  await t.rejects(
    attempt((session) => ({ filter: new ProbabilisticFilter(sessionRegion(session)) })),
    { message: /hash filter/ },
  );
  const idSet = (session: Session) => new TouchedKeySet({ ...sessionRegion(session), capacity: 10 });
  await t.rejects(
    attempt((session) => ({ touchedKeys: { set: idSet(session), tableIndex: 0 } })),
    {
      message: /TouchedPairSet/,
    },
  );
  await attempt(() => ({ filter: new DummyFilter() }));
});
