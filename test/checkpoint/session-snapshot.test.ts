import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { Graph } from '../../src/graph/graph.js';
import { globalStep, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import type { ModelSpec } from '../../src/train/model-spec.js';
import { DATASET, loadBatches, smallSession } from '../train/ffm-run.js';
import { contentOf, treeOf } from './helpers.js';

/** The demo model with a dense variable beside its tables. */
function modelWithDense(): ModelSpec {
  const model = buildFfm();
  variable(model.graph, { name: 'extra', shape: [2, 3], initial: () => Float32Array.of(1, 2, 3, 4, 5, 6) });
  return model;
}

async function openSession(t: Test, model: ModelSpec, options: Partial<SessionOptions> = {}): Promise<Session> {
  const session = await Session.create(model.graph, smallSession({ deterministic: true, ...options }));
  t.teardown(() => session.close());
  return session;
}

async function train(session: Session, model: ModelSpec, batches: readonly number[]): Promise<number[]> {
  const losses: number[] = [];
  for (const batch of batches) {
    const [loss] = await session.run([model.loss, model.trainOp], batch);
    losses.push(loss as number);
  }
  return losses;
}

t.test('a session restored from a checkpoint holds the same bytes and goes on with the same losses', async (t) => {
  const dir = t.testdir();
  const model = modelWithDense();
  const session = await openSession(t, model);
  const batches = loadBatches(session);
  await train(session, model, batches);
  session.writeVariable('extra', Float32Array.of(0.1, -0, 1e-45, 3.4e38, Number.NEGATIVE_INFINITY, 6));
  const snapshot = snapshotSession(session, model.name);
  const before = contentOf(snapshot);
  t.equal(snapshot.step, batches.length);
  t.equal(snapshot.tables.length, 4);
  t.ok(
    snapshot.tables.every((table) => table.rowCount > 0),
    'all tables have learnt something',
  );
  const { path } = await saveCheckpoint(join(dir, 'a'), snapshot);
  t.same(contentOf(snapshotSession(session, model.name)), before, 'saving changes nothing');

  const fresh = modelWithDense();
  const restored = await openSession(t, fresh, { threads: 2 });
  const loaded = await loadCheckpoint(path, { expect: snapshotSession(restored, fresh.name) });
  await restoreSession(restored, loaded);
  t.equal(restored.globalStep, batches.length);
  t.same(contentOf(snapshotSession(restored, fresh.name)), before);
  t.ok(Object.is(restored.readVariable('extra')[1], -0), 'to the last bit');

  await saveCheckpoint(join(dir, 'b'), snapshotSession(restored, fresh.name));
  t.same(treeOf(join(dir, 'b')), treeOf(join(dir, 'a')), 'saved again it is the same files');

  // Ids that neither session has seen: new rows must come out the same too.
  const newIds = { ...DATASET, vocab: 80 };
  const losses = await train(session, model, loadBatches(session, newIds));
  t.same(await train(restored, fresh, loadBatches(restored, newIds)), losses);
  t.same(contentOf(snapshotSession(restored, fresh.name)), contentOf(snapshotSession(session, model.name)));
});

t.test('a session that never ran has empty tables, and they survive a save too', async (t) => {
  const dir = t.testdir();
  const model = modelWithDense();
  const session = await openSession(t, model);
  const { path } = await saveCheckpoint(dir, snapshotSession(session, model.name));
  const fresh = modelWithDense();
  const restored = await openSession(t, fresh);
  await restoreSession(restored, await loadCheckpoint(path, { expect: snapshotSession(restored, fresh.name) }));
  t.same(contentOf(snapshotSession(restored, fresh.name)), contentOf(snapshotSession(session, model.name)));
  t.same([...restored.readVariable('extra')], [1, 2, 3, 4, 5, 6]);
});

t.test('a checkpoint without a variable of the session is refused before anything is changed', async (t) => {
  const dir = t.testdir();
  const plain = buildFfm();
  const session = await openSession(t, plain);
  await train(session, plain, loadBatches(session));
  const { path } = await saveCheckpoint(dir, snapshotSession(session, plain.name));
  const model = modelWithDense();
  const other = await openSession(t, model);
  await t.rejects(loadCheckpoint(path, { expect: snapshotSession(other, model.name) }), {
    code: 'ML_CKPT_MODEL',
    message: /extra/,
  });
  t.equal(other.globalStep, 0);
});

t.test('a save that nobody waits for holds what was asked for before it, whatever is asked for after', async (t) => {
  const dir = t.testdir();
  const plain = modelWithDense();
  const quiet = await openSession(t, plain, { threads: 2 });
  const expected: Record<string, string>[] = [];
  for (const [step, batch] of loadBatches(quiet).slice(0, 4).entries()) {
    await train(quiet, plain, [batch]);
    await saveCheckpoint(join(dir, `quiet-${step}`), snapshotSession(quiet, plain.name));
    expected.push(treeOf(join(dir, `quiet-${step}`)));
  }

  const model = modelWithDense();
  const session = await openSession(t, model, { threads: 2 });
  const runs: Promise<unknown>[] = [];
  const saves = loadBatches(session)
    .slice(0, 4)
    .map((batch, step) => {
      runs.push(session.run([model.loss, model.trainOp], batch));
      return saveCheckpoint(join(dir, String(step)), snapshotSession(session, model.name));
    });
  await Promise.all([...runs, ...saves]);
  for (const [step, tree] of expected.entries()) {
    t.ok(isDeepStrictEqual(treeOf(join(dir, String(step))), tree), `the save after step ${step + 1}`);
  }
  const chosen = await saveCheckpoint(join(dir, 'chosen'), { ...snapshotSession(session, model.name), step: 70 });
  t.equal((await loadCheckpoint(chosen.path)).step, 70, 'a step that the caller chose stays');
});

/** A kernel of 2 rows and, if wanted, a table and a counter of steps. */
function shaped(units: number, table?: string, dim = 2, counts = true): Graph {
  const graph = new Graph();
  variable(graph, { name: 'kernel', shape: [2, units], initial: () => new Float32Array(2 * units) });
  if (counts) globalStep(graph);
  if (table !== undefined)
    embeddingLookup(raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }), defineTable(table, [{ dim }]));
  return graph;
}

async function openShaped(t: Test, graph: Graph): Promise<Session> {
  const schema = [{ name: 'ids', kind: 'ragged' }] as const;
  const session = await Session.create(graph, { schema, batchSize: 1, threads: 1, memoryBytes: 2 ** 25 });
  t.teardown(() => session.close());
  return session;
}

t.test('a restore into other variables or tables is refused and changes nothing', async (t) => {
  const dir = t.testdir();
  const from = await openShaped(t, shaped(2, 'users'));
  from.writeVariable('kernel', Float32Array.of(1, 2, 3, 4));
  from.writeVariable('global_step', BigInt64Array.of(9n));
  const loaded = await loadCheckpoint((await saveCheckpoint(dir, snapshotSession(from, 'm'))).path);
  const others: [Graph, RegExp][] = [
    [shaped(4, 'users'), /kernel: expected float32\[2, 4\], found float32\[2, 2\]/],
    [shaped(1, 'users'), /kernel: expected float32\[2, 1\], found float32\[2, 2\]/],
    [shaped(2, 'people'), /tables: expected people, found users/],
    [shaped(2), /tables: expected none, found also users/],
    [shaped(2, 'users', 3), /tables, users: expected/],
  ];
  for (const [graph, message] of others) {
    const session = await openShaped(t, graph);
    const before = contentOf(snapshotSession(session, 'm'));
    await t.rejects(restoreSession(session, loaded), { code: 'ML_CKPT_MODEL', fields: { dir }, message });
    t.same(contentOf(snapshotSession(session, 'm')), before);
  }
  const same = await openShaped(t, shaped(2, 'users'));
  await restoreSession(same, loaded);
  t.same([...same.readVariable('kernel')], [1, 2, 3, 4]);
  t.equal(same.globalStep, 9);
});

t.test('a model without a global step is saved and restored like any other', async (t) => {
  const dir = t.testdir();
  const from = await openShaped(t, shaped(2, 'users', 2, false));
  for (const values of [
    [5, 6, 7, 8],
    [1, 2, 3, 4],
  ]) {
    from.writeVariable('kernel', Float32Array.from(values));
    await saveCheckpoint(dir, snapshotSession(from, 'm'));
  }
  const to = await openShaped(t, shaped(2, 'users', 2, false));
  await restoreSession(to, await loadCheckpoint((await latestCheckpoint(dir))!));
  t.same([...to.readVariable('kernel')], [1, 2, 3, 4]);
  t.same(contentOf(snapshotSession(to, 'm')), contentOf(snapshotSession(from, 'm')));
});
