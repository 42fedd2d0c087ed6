import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { FeatureFactory, type FeatureFactoryOptions } from '../../src/feature/model/feature-factory.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { globalStep, placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { Session } from '../../src/runtime/session/session.js';
import type { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { TABLES } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { raggedOf, withSession } from '../runtime/with-session.js';

/** Three slots in two tables; ids of slot 7 need three sightings, those of slot 8 one. */
function model(options: FeatureFactoryOptions = { filterCapacity: 3000 }, thresholds = [3, 1]) {
  const graph = new Graph();
  globalStep(graph);
  const factory = new FeatureFactory(options);
  const sgd = { defaultVecInitializer: ZerosInitializer(), defaultVecOptimizer: SgdOptimizer({ learningRate: 1 }) };
  const slots = [
    factory.createFeatureSlot({ ...sgd, slotId: 7, occurrenceThreshold: thresholds[0]!, expireTime: 2 }),
    factory.createFeatureSlot({ ...sgd, name: 'eight', slotId: 8, occurrenceThreshold: thresholds[1]! }),
    factory.createFeatureSlot({ ...sgd, name: 'free' }),
  ];
  for (const [i, dim] of [2, 3, 3].entries()) slots[i]!.addFeatureSlice(dim);
  const columns = slots.map((slot, i) =>
    factory.createFeatureColumn(slot, raggedPlaceholder(graph, { name: `f${i}`, valuesPerRow: 4 })),
  );
  const seeds = slots.map((slot, i) => placeholder(graph, { name: `seed${i}`, width: slot.dim }));
  const grads = columns.map((column, i) => {
    const all = column.getAllEmbeddingsConcat();
    return [gradients([all], [all], { gradYs: [seeds[i]!] })[0]!, column] as const;
  });
  return { graph, slots, updates: factory.applyEmbeddingGradients(grads) };
}

const seven = (low: number) => (7n << 48n) + (BigInt(low) << 17n);
const eight = (low: number) => (8n << 48n) + (BigInt(100 + low) << 17n);
const feeds = (...ids: bigint[][]) => ({
  ...Object.fromEntries(ids.map((list, i) => [`f${i}`, raggedOf([list])])),
  ...Object.fromEntries([2, 3, 3].map((dim, i) => [`seed${i}`, new Float32Array(dim).fill(-1)])),
});
const configsOf = (session: Session) => session.graph.getCollection(TABLES);
const filtersOf = (session: Session) =>
  configsOf(session).map((config) => HashTable.of(session, config).gate.filter as HashFilter);

t.test('a slot is named after its id, and every table gets the expire times of all slots', async (t) => {
  const { graph, slots } = model();
  t.same(
    slots.map(({ name, slotId, occurrenceThreshold, expireTime }) => [name, slotId, occurrenceThreshold, expireTime]),
    [
      ['7', 7, 3, 2],
      ['eight', 8, 1, 36500],
      ['free', undefined, 0, 36500],
    ],
  );
  const configs = graph.getCollection(TABLES);
  t.equal(configs.length, 2, 'expire times and thresholds keep no slots apart');
  for (const { instance, admission } of configs) {
    t.same(instance.tableConfig.slotExpireTimeConfig, {
      slotExpireTimes: [
        { slot: 7, expireTime: 2 },
        { slot: 8, expireTime: 36500 },
      ],
      defaultExpireTime: 36500,
    });
    t.equal(admission, configs[0]!.admission);
  }
  t.same(configs[0]!.admission, {
    thresholds: {
      slotOccurrenceThresholds: [
        { slot: 7, occurrenceThreshold: 3 },
        { slot: 8, occurrenceThreshold: 1 },
      ],
    },
    capacity: 3000,
  });
  const open = model({}, [0, 0]).graph.getCollection(TABLES);
  t.ok(open.every(({ admission }) => admission === undefined));
});

t.test('slots that cannot be are refused', async (t) => {
  const make = (config: object) => () => new FeatureFactory().createFeatureSlot(config);
  t.throws(make({}), { code: 'ML_GRAPH', message: /neither a name nor a slot id/ });
  t.throws(make({ slotId: 32768 }), { code: 'ML_FID_SLOT' });
  t.throws(make({ slotId: 1, occurrenceThreshold: -1 }), { message: /no occurrence threshold/ });
  t.throws(make({ slotId: 1, expireTime: 0.5 }), { message: /no number of days/ });
  t.throws(make({ name: 'x', occurrenceThreshold: 2 }), { message: /give the slot id/ });
  t.throws(make({ name: 'x', expireTime: 2 }), { message: /give the slot id/ });
});

t.test('a session makes one filter for all tables, and saves and restores it with them', async (t) => {
  const dir = t.testdir();
  const trained = model();
  const path = await withSession(trained.graph, { batchSize: 1 }, async (session) => {
    const run = (...ids: bigint[][]) => session.run(trained.updates, feeds(...ids));
    await run([seven(1), seven(1), seven(2)], [eight(1)], [5n]);
    await run([seven(3)], [eight(1), eight(2)], [5n]);
    const [small, large] = configsOf(session).map((config) => HashTable.of(session, config));
    t.same([small!.size, large!.size], [0, 2], 'eight(1) at its second sighting, and the slot without a threshold');
    const [filter, other] = filtersOf(session);
    t.equal(filter, other);
    const counted = BigInt64Array.of(seven(1), seven(2), eight(1), eight(2), 5n);
    t.same([...filter!.get(counted)], [2, 1, 2, 1, 0]);
    return (await saveCheckpoint(dir, snapshotSession(session, 'm'))).path;
  });
  const files = readdirSync(`${path}.assets`).filter((name) => name.startsWith('hash_filter_0-'));
  t.equal(files.length, 7);

  const again = model();
  await withSession(again.graph, { batchSize: 1 }, async (session) => {
    const loaded = await loadCheckpoint(path, { expect: snapshotSession(session, 'm') });
    await restoreSession(session, loaded);
    const [filter] = filtersOf(session);
    t.same([...filter!.get(BigInt64Array.of(seven(1), eight(1)))], [2, 2]);
    const run = (id: bigint) => session.run(again.updates, feeds([id], [], []));
    const table = HashTable.of(session, again.graph.getCollection(TABLES)[0]!);
    await run(seven(1));
    t.equal(table.size, 0, 'the third sighting is the last that is passed over');
    await run(seven(1));
    t.equal(table.size, 1);
    const copy = await saveCheckpoint(join(dir, 'copy'), loaded);
    const bytesOf = (prefix: string, file: string) => readFileSync(join(`${prefix}.assets`, file));
    for (const file of files) t.same(bytesOf(copy.path, file), bytesOf(path, file), 'a loaded checkpoint saves alike');
  });

  const small = model({ filterCapacity: 600 });
  await withSession(small.graph, { batchSize: 1 }, async (session) => {
    const loaded = await loadCheckpoint(path);
    await t.rejects(restoreSession(session, loaded), { code: 'ML_FILTER_FILE' });
    t.equal(filtersOf(session)[0]!.elementCount, 0);
  });
  const open = model({}, [0, 0]);
  await withSession(open.graph, { batchSize: 1 }, async (session) => {
    await restoreSession(session, await loadCheckpoint(path, { expect: snapshotSession(session, 'm') }));
    t.same(filtersOf(session), [null, null], 'a model without thresholds leaves the filter be');
    t.equal(snapshotSession(session, 'm').filters!.length, 0);
    const tables = configsOf(session).map((config) => HashTable.of(session, config));
    const sizes = () => tables.map(({ size }) => size);
    t.same(sizes(), [0, 2], 'its rows are those that were saved');
    await session.run(open.updates, feeds([seven(1)], [eight(2)], []));
    t.same(sizes(), [1, 3], 'every id is admitted at its first sighting');
  });

  const victim = join(`${path}.assets`, files[3]!);
  const bytes = readFileSync(victim);
  writeFileSync(
    victim,
    bytes.map((byte, i) => (i === 60 ? byte ^ 1 : byte)),
  );
  await t.rejects(loadCheckpoint(path), { code: 'ML_CKPT_CORRUPT', message: /hash_filter_0-00003/ });
  rmSync(victim);
  await t.rejects(loadCheckpoint(path), { code: 'ML_CKPT_CORRUPT', message: /it is missing/ });
});
