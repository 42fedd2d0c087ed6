/** @file The request time of a batch in the rows it updates, and expiry by it: in training, and in what is saved. */
import t from 'tap';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { loadBatches } from '../../src/data/resident-batches.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { applyGradientsWithVarOptimizer } from '../../src/feature/model/apply-gradients-with-var-optimizer.js';
import { FeatureFactory } from '../../src/feature/model/feature-factory.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, idsPlaceholder, placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { BatchData } from '../../src/memory/batch.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer, SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup, TABLES } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { EvictionHook } from '../../src/train/hooks/eviction.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { BACKENDS, openSession, raggedOf, withSession } from '../runtime/with-session.js';

const DAY = 86400;
const APART = { memoryBytes: 16 << 20, tableBytes: 12 << 20, bankBytes: (4 << 20) + 65536 };

/** Two tables that go by one time. */
function model() {
  const graph = new Graph();
  const reqTime = idsPlaceholder(graph, { name: 'req_time' });
  const configs = ['a', 'b'].map((name) =>
    defineTable(name, [{ dim: 2, optimizer: SgdOptimizer() }], { defaultExpireTime: 3, featureEvictEveryNHours: 1 }),
  );
  const lookups = configs.map((config) =>
    embeddingLookup(raggedPlaceholder(graph, { name: config.name, valuesPerRow: 4 }), config),
  );
  const seed = placeholder(graph, { name: 'seed', width: 2 });
  const pairs = lookups.map((lookup) => [gradients([lookup], [lookup], { gradYs: [seed] })[0]!, lookup] as const);
  return { graph, configs, pairs, reqTime };
}

const feedsOf = (a: bigint[][], b: bigint[][], times: readonly number[]) => ({
  a: raggedOf(a),
  b: raggedOf(b),
  req_time: BigInt64Array.from(times, BigInt),
  seed: new Float32Array(a.length * 2),
});
/** In the order of the placeholders. */
const batchOf = ({ a, b, req_time, seed }: ReturnType<typeof feedsOf>): BatchData => ({
  rows: req_time.length,
  feeds: [
    { kind: 'ids', values: req_time },
    { kind: 'ragged', ...a },
    { kind: 'ragged', ...b },
    { kind: 'dense', values: seed },
  ],
});
const timesOf = (table: HashTable) => [...table.rows()].map(({ id, lastUpdateSec }) => [id, lastUpdateSec]);

for (const backend of BACKENDS) {
  t.test(`rows have the latest request time of the batches that updated them, ${backend}`, async (t) => {
    const all: Partial<SessionOptions>[] = [1, 2, 3].map((threads) => ({ backend, threads }));
    all.push({ backend, threads: 2, deterministic: true });
    // Tables of a device are in no bank.
    if (!process.env.MONOLITH_TEST_GPU_TABLES) all.push({ backend, threads: 2, ...APART });
    for (const options of all) {
      const { graph, configs, pairs, reqTime } = model();
      const updates = applyEmbeddingGradients(pairs, { reqTime });
      await withSession(graph, options, async (session) => {
        const [a, b] = configs.map((config) => HashTable.of(session, config));
        await session.run(updates, feedsOf([[1n], [2n], [1n]], [[], [], [9n]], [100, 300, 200]));
        t.same(
          timesOf(a!),
          [
            [1n, 300],
            [2n, 300],
          ],
          JSON.stringify(options),
        );
        t.same(timesOf(b!), [[9n, 300]]);
        await session.run(updates, feedsOf([[2n], [3n]], [[], []], [250, 240]));
        t.same(
          timesOf(a!),
          [
            [1n, 300],
            [2n, 250],
            [3n, 250],
          ],
          'a late batch has its own time',
        );
        t.equal(a!.maxUpdateSec, 300, 'and takes none away');
        await session.run(updates, feedsOf([[3n]], [[9n]], [0]));
        t.same(timesOf(b!), [[9n, 0]], 'as 0 is a time');
        const refused = [1_700_000_000_000, -1, 2 ** 32 - 1, -(2 ** 40)];
        for (const time of refused) {
          const wrong = session.run(updates, feedsOf([[1n], [1n]], [[], []], [5, time]));
          await t.rejects(wrong, { code: 'ML_FEED', fields: { name: 'req_time' }, message: `${time}` });
        }
        t.same(
          timesOf(a!),
          [
            [1n, 300],
            [2n, 250],
            [3n, 0],
          ],
          'what was refused changed nothing',
        );
      });
    }
  });
}

t.test('a step that is cut stamps rows with the time of their own batch', async (t) => {
  const all: Partial<SessionOptions>[] = [{ prefetch: 1 }, { postpush: true }, { postpush: true, ...APART }];
  for (const options of [...all, { prefetch: 2, postpush: true, threads: 3 }]) {
    const { graph, configs, pairs, reqTime } = model();
    const updates = applyEmbeddingGradients(pairs, { reqTime });
    await withSession(graph, options, async (session) => {
      const feeds = [100, 300, 200].map((time, i) => feedsOf([[BigInt(i)], [7n]], [[], [9n]], [time, 1]));
      await session.runSteps(updates, loadBatches(session, feeds.map(batchOf)));
      await session.drain();
      const [a, b] = configs.map((config) => timesOf(HashTable.of(session, config)));
      t.same(
        a,
        [
          [0n, 100],
          [1n, 300],
          [2n, 200],
          [7n, 200],
        ],
        JSON.stringify(options),
      );
      t.same(b, [[9n, 200]]);
    });
  }
});

t.test('without a request time rows are as new as the newest', async (t) => {
  const { graph, configs, pairs } = model();
  const updates = applyEmbeddingGradients(pairs);
  await withSession(graph, {}, async (session) => {
    const table = HashTable.of(session, configs[0]!);
    table.assign(BigInt64Array.of(1n), new Float32Array(2), { timeSec: 77 });
    const { req_time: _, ...feeds } = feedsOf([[2n]], [[]], []);
    await session.run(updates, { ...feeds, seed: new Float32Array(2) });
    t.same(timesOf(table), [
      [1n, 77],
      [2n, 77],
    ]);
  });
});

t.test('updates of one table go by one time', async (t) => {
  const { graph, pairs, reqTime } = model();
  const other = idsPlaceholder(graph, { name: 'other' });
  const [pair] = pairs;
  const updates = [
    ...applyEmbeddingGradients([pair!], { reqTime }),
    ...applyEmbeddingGradients([pair!], { reqTime: other }),
  ];
  await withSession(graph, {}, async (session) => {
    await t.rejects(session.run(updates, { ...feedsOf([[1n]], [[]], [1]), other: [1n] }), { code: 'ML_GRAPH' });
    const mixed = [updates[0]!, ...applyEmbeddingGradients([pair!])];
    await session.run(mixed, feedsOf([[1n]], [[]], [41]));
    t.same(timesOf(HashTable.of(session, graph.getCollection(TABLES)[0]!)), [[1n, 41]], 'one that says nothing agrees');
  });
  for (const time of [placeholder(graph, { name: 'float' }), idsPlaceholder(graph, { name: 'two', width: 2 })]) {
    t.throws(() => applyEmbeddingGradients([pair!], { reqTime: time }), { code: 'ML_GRAPH' });
  }
});

t.test('expired rows are evicted in training, by the time of the batches', async (t) => {
  const { graph, configs, pairs, reqTime } = model();
  const updates = applyEmbeddingGradients(pairs, { reqTime });
  let nowSec = 0;
  const hook = new EvictionHook({ nowSec: () => nowSec, pollMs: 0 });
  const monitored = await MonitoredSession.create({ graph, hooks: [hook], createSession: () => openSession(graph) });
  t.teardown(() => monitored.close());
  const table = HashTable.of(monitored.session, configs[0]!);
  const ids = () => [...table.rows()].map(({ id }) => id);
  await monitored.run(updates, feedsOf([[1n, 2n]], [[]], [10 * DAY]));
  nowSec += 3600;
  await monitored.run(updates, feedsOf([[2n, 3n]], [[]], [13 * DAY - 1]));
  t.same(ids(), [1n, 2n, 3n], 'not yet three days');
  nowSec += 3600;
  await monitored.run(updates, feedsOf([[3n]], [[]], [13 * DAY]));
  t.same(ids(), [2n, 3n], 'three days after its last update id 1 goes');
});

/** Two slots with one feature each, whose ids live 0 days and 1 day. */
function twoSlots() {
  const schema = defineSchema({
    req_time: dense.i64(),
    gone: ragged.i64({ valuesPerRow: 2 }),
    kept: ragged.i64({ valuesPerRow: 2 }),
  });
  const graph = new Graph();
  const inputs = schema.inputs(graph);
  const factory = new FeatureFactory();
  const optimizer = AdagradOptimizer({ initialAccumulatorValue: 1 });
  const columns = [inputs.gone, inputs.kept].map((ids, slotId) => {
    const vectors = { defaultVecInitializer: ZerosInitializer(), defaultVecOptimizer: optimizer };
    const slot = factory.createFeatureSlot({ ...vectors, slotId: slotId + 1, expireTime: slotId });
    slot.addFeatureSlice(5);
    return factory.createFeatureColumn(slot, ids);
  });
  const embeddings = columns.map((column) => column.getAllEmbeddingsConcat());
  const loss = reduceMean(addN(embeddings.map((embedding) => reduceSum(embedding, { axis: 'columns' }))));
  const trainOp = applyGradientsWithVarOptimizer({
    loss,
    featureColumns: columns,
    varOptimizer: SgdOptimizer(),
    globalStep: globalStep(graph),
    reqTime: inputs.req_time,
  });
  return { schema, graph, embeddings, trainOp };
}

t.test('A7: what expired is not in the checkpoint that a prediction loads', async (t) => {
  const { schema, graph, embeddings, trainOp } = twoSlots();
  const ids = (slot: bigint) => [[(slot << 48n) + 1n, (slot << 48n) + 2n]];
  const features = { gone: ids(1n), kept: ids(2n) };
  const dir = t.testdir();
  const path = await withSession(graph, { schema }, async (session) => {
    await session.run([trainOp], schema.feeds({ ...features, req_time: [100n] }));
    return (await saveCheckpoint(dir, snapshotSession(session, 'm'))).path;
  });
  await withSession(graph, { schema }, async (session) => {
    await restoreSession(session, await loadCheckpoint(path));
    const [gone, kept] = (await session.run(embeddings, features)) as Float32Array[];
    t.same([...gone!], [0, 0, 0, 0, 0]);
    for (const value of kept!) t.ok(Math.abs(value + 0.001414) < 1e-6, String(value));
  });
});

t.test('a table whose rows are to expire and whose steps have no time is named once in a warning', async (t) => {
  const heard: Error[] = [];
  const hear = (warning: Error) => heard.push(warning);
  process.on('warning', hear);
  t.teardown(() => process.off('warning', hear));
  const warnings = async (withTime: boolean, days = 36500) => {
    const graph = new Graph();
    const reqTime = idsPlaceholder(graph, { name: 'req_time' });
    const table = defineTable('a', [{ dim: 2, optimizer: SgdOptimizer() }], { defaultExpireTime: days });
    const lookup = embeddingLookup(raggedPlaceholder(graph, { name: 'a', valuesPerRow: 4 }), table);
    const loss = reduceSum(lookup);
    const steps = applyEmbeddingGradients([[gradients([loss], [lookup])[0]!, lookup]], withTime ? { reqTime } : {});
    await withSession(graph, {}, async (session) => {
      const feeds = { a: raggedOf([[1n]]), req_time: BigInt64Array.of(BigInt(DAY)) };
      await session.run([...steps], feeds);
      await session.run([loss, ...steps], feeds);
    });
    return heard.splice(0).map((warning) => `${(warning as NodeJS.ErrnoException).code}: ${warning.message}`);
  };
  t.match(await warnings(false, 7), [/^ML_TABLE_TIMELESS: table a has rows that expire after 7 days/]);
  t.same(await warnings(true, 7), []);
  t.same(await warnings(false), [], 'rows of other tables live for a hundred years');
});
