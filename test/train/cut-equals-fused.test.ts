/**
 * @file A cut step gives the bytes of one in one piece: losses, rows, and what is saved, whoever brings the rows.
 *
 * Random models meet all of it too, by turns: test/determinism. Here each kind of model is named; a deep run has every
 * number of threads with every number of owners.
 */
import t from 'tap';
import { buildCtr, CTR_SCHEMA, type CtrModel } from '../../bench/ctr-models.js';
import { CATEGORIES, DENSE, generateCtr } from '../../bench/ctr-ref.js';
import { LocalRows, type RowLease, type RowStore } from '../../src/runtime/session/row-store.js';
import { Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { BankRows } from '../../src/sparse/many/bank-rows.js';
import { TABLES } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import type { Recipe } from '../determinism/recipe.js';
import { difference, train, type Way } from '../determinism/train.js';
import { DEEP } from '../support/rounds.js';

const CASES: Readonly<Record<string, readonly string[]>> = {
  plain: [],
  'sequence features': ['sequence', 'mean-pooling', 'shared-table'],
  filters: ['filter', 'touched', 'shared-table'],
  expiry: ['expiry'],
  'several tables': ['several-tables', 'several-segments', 'row:adam'],
  'what is only read': ['read-only-lookup', 'filter'],
  'rows that are shown otherwise': ['compressor:fixed-r8', 'several-tables'],
  'rates by step': ['schedule:polynomial', 'several-tables', 'clip'],
};

const PLAIN: Way = { threads: 1, deterministic: true };
const THREADS = [1, 2, 3];
const OWNERS = [1, 2, 3, 4];

t.setTimeout(300_000);
Object.entries(CASES).forEach(([name, features], index) => {
  t.test(`${name}: the same bytes for any number of threads and of owners`, async (t) => {
    const recipe: Recipe = { seed: 40 + index, features: ['row:adagrad', 'dense:adam', ...features] };
    const whole = await train(recipe, PLAIN);
    t.ok(whole.losses.length > 5);
    // Every pair in a deep run; otherwise one of them, and another in the next case.
    const pairs = OWNERS.flatMap((owners) => THREADS.map((threads) => ({ owners, threads })));
    const some = DEEP ? pairs : [pairs[(5 * index) % pairs.length]!];
    const ways = some.map((pair): Way => ({ ...PLAIN, ...pair, cut: 'served' }));
    if (DEEP || index % 2 === 1) ways.push({ ...PLAIN, threads: 1 + (index % 3), cut: 'local' });
    for (const way of ways) t.equal(difference(whole, await train(recipe, way)), undefined, JSON.stringify(way));
    if (!DEEP && index % 2 === 1) return;
    const plain: Way = { ...PLAIN, backend: 'reference' };
    const way: Way = { ...plain, threads: 2, cut: index % 4 === 0 ? 'served' : 'local', owners: 3 };
    t.equal(difference(await train(recipe, plain), await train(recipe, way)), undefined, JSON.stringify(way));
  });
});

const BATCH = 48;
const STEPS = 4;

/** Losses of a model of the bench, and all rows of its tables in the order of ids. */
async function trainCtr(model: CtrModel, options: Partial<SessionOptions>, rowsOf?: BankRows) {
  const { labels, dense, ids } = generateCtr(STEPS * BATCH, 3);
  const { graph, loss, trainOp } = buildCtr(model);
  const session = await Session.create(graph, {
    schema: CTR_SCHEMA,
    batchSize: BATCH,
    memoryBytes: 2 ** 27,
    deterministic: true,
    seed: 5,
    ...options,
  });
  try {
    const losses: number[] = [];
    for (let n = 0; n < STEPS; n++) {
      const part = <A extends { slice(from: number, to: number): A }>(values: A, width: number) =>
        values.slice(n * BATCH * width, (n + 1) * BATCH * width);
      const feeds = { label: part(labels, 1), dense: part(dense, DENSE), ids: part(ids, CATEGORIES) };
      losses.push((await session.run([loss, trainOp], feeds))[0] as number);
    }
    await session.drain();
    const configs = graph.getCollection(TABLES);
    const tables = configs.map((config, index) => {
      if (rowsOf === undefined) return [HashTable.of(session, config)];
      return Array.from({ length: rowsOf.owners }, (_, owner) => rowsOf.tables(owner)[index]!);
    });
    const rows = tables.map((shards) =>
      shards
        .flatMap((shard) => [...shard.rows()].map(({ id, weights, state }) => [id, [...weights], [...state]] as const))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
    return { losses, rows };
  } finally {
    await session.close();
  }
}

const local = new LocalRows();
const served = (owners: number): RowStore => ({
  owners,
  pull: (lease) => local.pull(lease),
  push: (lease) => local.push(lease),
});

for (const model of ['ffm', 'deepfm'] as const) {
  t.test(`${model}: the same losses and rows, in tables of the session and outside of it`, async (t) => {
    const whole = await trainCtr(model, { threads: 1 });
    t.ok(whole.rows.flat().length > 100);
    const pairs = [
      [2, 3],
      [1, 2],
      [3, 1],
      [2, 4],
    ] as const;
    for (const [index, [threads, owners]] of pairs.entries()) {
      // In a plain run each model has two of them, one in tables of the session and one outside of it.
      if (!DEEP && index < 2 !== (model === 'ffm')) continue;
      if (DEEP || index % 2 === 0) {
        const there = await trainCtr(model, { threads, rows: served(owners) });
        t.same(there, whole, `${threads} threads, ${owners} owners`);
        if (!DEEP) continue;
      }
      const configs = buildCtr(model).graph.getCollection(TABLES);
      const banks = await BankRows.create(configs, { owners, budgetBytes: 32 << 20, seed: 5 });
      try {
        const apart = await trainCtr(model, { threads, rows: banks }, banks);
        t.same(apart, whole, `${threads} threads, ${owners} memories`);
      } finally {
        await banks.close();
      }
    }
  });
}

t.test('a lease says the step and the request time, and has each id once, at its owner', async (t) => {
  const seen: { step: number; ids: bigint[]; trained: number; counts: number[] }[] = [];
  const note = ({ step, tables }: RowLease): void => {
    for (const { parts, requestTime } of tables) {
      t.equal(requestTime, undefined, 'the model has none');
      parts.forEach(({ ids, trained, counts }, owner) => {
        t.ok(ids.every((id) => BigInt.asUintN(64, ((id % 3n) + 3n) % 3n) === BigInt(owner)));
        seen.push({ step, ids: [...ids], trained, counts: [...counts] });
      });
    }
  };
  const store: RowStore = {
    owners: 3,
    pull: (lease) => local.pull(lease),
    push: (lease) => {
      note(lease);
      return local.push(lease);
    },
  };
  await trainCtr('ffm', { threads: 2, rows: store, postpush: true, prefetch: 1 });
  t.same([...new Set(seen.map(({ step }) => step))], [0, 1, 2, 3]);
  for (let step = 0; step < STEPS; step++) {
    const own = seen.filter((each) => each.step === step);
    const ids = own.flatMap((each) => each.ids);
    t.equal(new Set(ids).size, ids.length);
    const sightings = own.flatMap(({ counts }) => counts).reduce((a, b) => a + b, 0);
    t.equal(sightings % BATCH, 0, 'each example has as many ids');
    t.ok(sightings >= ids.length);
    t.same(
      own.map(({ trained }) => trained),
      own.map(({ ids: all }) => all.length),
    );
  }
});

t.test('as many owners as a step can have, and no more', async (t) => {
  const { graph } = buildCtr('ffm');
  const options = { schema: CTR_SCHEMA, batchSize: 8, threads: 1, memoryBytes: 2 ** 26 };
  for (const owners of [0, 1.5, 1025]) {
    await t.rejects(Session.create(graph, { ...options, rows: served(owners) }), { code: 'ML_FLAG' });
  }
  await t.rejects(BankRows.create([], { owners: 0 }), { code: 'ML_FLAG' });
});
