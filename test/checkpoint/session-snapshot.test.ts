import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { restoreSession, snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { variable } from '../../src/graph/ops/state.js';
import { Session, type SessionOptions } from '../../src/runtime/session.js';
import type { ModelSpec } from '../../src/train/model-spec.js';
import { buildFfm } from '../../src/train/models/ffm.js';
import { DATASET, loadBatches, smallSession } from '../train/ffm-run.js';
import { contentOf, treeOf } from './helpers.js';

/** The demo model with a dense variable beside its tables. */
function modelWithDense(): ModelSpec {
  const model = buildFfm();
  variable(model.graph, 'extra', [2, 3], () => Float32Array.of(1, 2, 3, 4, 5, 6));
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
