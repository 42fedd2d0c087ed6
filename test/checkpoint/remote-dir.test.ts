/** @file Model directories of another file system: what is read and written there goes through it. */
import { join } from 'node:path';
import t from 'tap';
import { registerFileSystem } from '../../src/base/files/file-systems.js';
import { getCheckpointState } from '../../src/checkpoint/checkpoint-state-reader.js';
import {
  copyCheckpoint,
  keepModelDir,
  latestCheckpoint,
  listCheckpoints,
  loadCheckpoint,
  prepareModelDir,
  pruneCheckpoints,
  saveCheckpoint,
} from '../../src/checkpoint/on-demand.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { PartialRecoverySaver } from '../../src/compat/index.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { Session } from '../../src/runtime/session/session.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { memoryFileSystem } from '../support/memory-file-system.js';
import { loadBatches, smallSession, trainFfm } from '../train/ffm-run.js';
import { contentOf, sampleSnapshot, treeOf } from './helpers.js';

const DIR = 'hdfs:/runs/a';

function registered(t: { teardown(end: () => void): void }) {
  const system = memoryFileSystem();
  t.teardown(registerFileSystem('hdfs', system));
  const names = (dir = DIR) =>
    [...system.files.keys()].filter((path) => path.startsWith(`${dir}/`)).map((path) => path.slice(dir.length + 1));
  return { system, names: (dir?: string) => names(dir).sort() };
}

t.test('without a file system for the scheme everything says so', async (t) => {
  const refused = { code: 'ML_FILE_SYSTEM', message: /no file system is registered for hdfs:\// };
  await t.rejects(latestCheckpoint(DIR), refused);
  await t.rejects(loadCheckpoint(`${DIR}/model.ckpt-1`), refused);
  await t.rejects(saveCheckpoint(DIR, sampleSnapshot(1)), refused);
  await t.rejects(listCheckpoints(DIR), refused);
  await t.rejects(prepareModelDir(DIR), refused);
});

t.test('checkpoints are saved, rotated, found, listed, copied and pruned there', async (t) => {
  const { system, names } = registered(t);
  t.equal(await latestCheckpoint(DIR), null);
  await prepareModelDir(DIR);
  for (const step of [1, 2, 3]) {
    const saved = await saveCheckpoint(DIR, sampleSnapshot(step), { keep: 2 });
    t.equal(saved.path, `${DIR}/model.ckpt-${step}`);
    t.same(saved.deleted, step === 3 ? [`${DIR}/model.ckpt-1`] : []);
  }
  t.notOk(names().some((name) => name.includes('tmp') || name.includes('.lock') || name.includes('pending')));
  t.ok(names().includes('model.ckpt-3.index'));
  t.notOk(names().some((name) => name.startsWith('model.ckpt-1.')));
  t.equal(await latestCheckpoint(DIR), `${DIR}/model.ckpt-3`);
  const loaded = await loadCheckpoint(`${DIR}/model.ckpt-3`);
  t.equal(loaded.path, `${DIR}/model.ckpt-3`);
  const local = join(t.testdir(), 'local');
  const { path } = await saveCheckpoint(local, sampleSnapshot(3));
  t.same(contentOf(loaded), contentOf(await loadCheckpoint(path)));
  const state = await getCheckpointState(DIR, { restoreCkpt: 'model.ckpt-2' });
  t.equal(state?.modelCheckpointPath, `${DIR}/model.ckpt-2`);
  t.equal(
    Buffer.from(system.files.get(`${DIR}/restore_ckpt`)!.bytes)
      .toString()
      .split('/')
      .at(-1),
    'model.ckpt-2',
  );
  t.equal(await latestCheckpoint(DIR), `${DIR}/model.ckpt-2`, 'the override was written there');
  const { checkpoints } = await listCheckpoints(DIR);
  t.same(
    checkpoints.map((one) => [one.path, one.status, one.model]),
    [
      [`${DIR}/model.ckpt-2`, 'latest', 'ffm'],
      [`${DIR}/model.ckpt-3`, 'listed', 'ffm'],
    ],
  );
  const there = await copyCheckpoint(path, 'hdfs:/runs/b');
  t.equal((await listCheckpoints('hdfs:/runs/b')).checkpoints[0]!.bytes, there.bytes);
  t.equal(there.path, 'hdfs:/runs/b/model.ckpt-3');
  t.equal((await copyCheckpoint('hdfs:/runs/b/model.ckpt-3', join(t.testdirName, 'back'))).files, there.files);
  t.same(
    Object.entries(treeOf(join(t.testdirName, 'back'))).filter(([name]) => name.startsWith('model')),
    Object.entries(treeOf(local)).filter(([name]) => name.startsWith('model')),
  );
  await saveCheckpoint('hdfs:/runs/b', sampleSnapshot(4));
  const pruned = await pruneCheckpoints('hdfs:/runs/b', { keep: 1 });
  t.same(
    pruned.deleted.map((one) => one.path),
    ['hdfs:/runs/b/model.ckpt-3'],
  );
  t.notOk(names('hdfs:/runs/b').some((name) => name.startsWith('model.ckpt-3')));
  await t.rejects(loadCheckpoint(`${DIR}/model.ckpt-9`), {
    code: 'ML_CKPT_PATH',
    fields: { path: `${DIR}/model.ckpt-9` },
  });
});

t.test('what another process changed there is seen, and damage names the file there', async (t) => {
  const { system } = registered(t);
  await saveCheckpoint(DIR, sampleSnapshot(1));
  await saveCheckpoint('hdfs:/runs/c', sampleSnapshot(2));
  for (const [path, file] of [...system.files]) {
    if (path.startsWith('hdfs:/runs/c/')) {
      (system.files as Map<string, typeof file>).set(path.replace('/runs/c/', '/runs/a/'), file);
    }
  }
  t.equal(await latestCheckpoint(DIR), `${DIR}/model.ckpt-2`);
  t.equal((await loadCheckpoint(`${DIR}/model.ckpt-2`)).step, 2);
  const data = system.files.get(`${DIR}/model.ckpt-2.data-00000-of-00001`)!;
  data.bytes = data.bytes.slice();
  data.bytes[3] = data.bytes[3]! ^ 1;
  data.modifiedMs++;
  await t.rejects(loadCheckpoint(`${DIR}/model.ckpt-2`), {
    code: 'ML_CKPT_CORRUPT',
    message: new RegExp(`${DIR}/model`),
  });
});

t.test('a save that fails at any operation there leaves the one before', async (t) => {
  const { system } = registered(t);
  await saveCheckpoint(DIR, sampleSnapshot(1), { keep: 1 });
  const before = system.calls.length;
  await saveCheckpoint(DIR, sampleSnapshot(2), { keep: 1 });
  const count = system.calls.length - before;
  t.ok(count > 20, `${count} operations`);
  let failed = 0;
  for (let at = 0; at < count; at += 3) {
    const [{ step }] = [await loadCheckpoint((await latestCheckpoint(DIR))!)];
    system.failAt = system.calls.length + at;
    await saveCheckpoint(DIR, sampleSnapshot(step + 1), { keep: 1 }).catch(() => failed++);
    system.failAt = Number.POSITIVE_INFINITY;
    // A lock that could not be removed is that of a process that lives.
    await system.remove(`${DIR}/monolith.lock`);
    const latest = await loadCheckpoint((await latestCheckpoint(DIR))!);
    t.ok(latest.step === step || latest.step === step + 1, `after the failure of operation ${at}`);
    t.same(contentOf(latest), contentOf(sampleSnapshot(latest.step)));
  }
  t.ok(failed > 5, `${failed} saves failed`);
});

t.test('a training goes on from what it saved there, and has the directory for itself', async (t) => {
  const { names } = registered(t);
  const whole = await trainFfm({ steps: 12, session: { deterministic: true } });
  const first = await trainFfm({ steps: 6, modelDir: DIR, session: { deterministic: true } });
  t.same(
    names().filter((name) => !name.includes('assets/')),
    [
      'checkpoint',
      'meta_graph_for_debugging.pb',
      'model.ckpt-6.data-00000-of-00001',
      'model.ckpt-6.index',
      'model.ckpt-6.meta',
      'monolith_checkpoint',
    ],
  );
  t.same([...first, ...(await trainFfm({ steps: 6, modelDir: DIR, session: { deterministic: true } }))], whole);
  const { release } = await keepModelDir(DIR);
  t.ok(names().includes('monolith.lock'));
  await t.rejects(trainFfm({ steps: 1, modelDir: DIR }), { code: 'ML_DIR' });
  await release();
  t.notOk(names().includes('monolith.lock'));
  // An empty directory of this machine takes the checkpoint over where it is.
  const trainer = await LocalTrainer.create({
    model: buildFfm(),
    modelDir: join(t.testdir(), 'adopted'),
    steps: 1,
    restore: { dir: DIR },
    session: smallSession(),
  });
  t.equal(trainer.startStep, 12);
  t.equal(trainer.restored, `${DIR}/model.ckpt-12`);
  const batches = loadBatches(trainer.session);
  await trainer.train({ next: () => batches[0]! });
  await trainer.close();
  const model = buildFfm();
  const session = await Session.create(model.graph, smallSession());
  t.equal((await restoreSession(session, DIR)).path, `${DIR}/model.ckpt-12`);
  t.equal(session.globalStep, 12);
  const saver = new PartialRecoverySaver({ varList: ['global_step'] });
  const path = await saver.save(session, 'hdfs:/runs/a/plain');
  session.writeVariable('global_step', BigInt64Array.of(1n));
  await saver.restore(session, path);
  t.equal(session.globalStep, 12);
  await session.close();
});
