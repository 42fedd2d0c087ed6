import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fileSystemOf, registerFileSystem } from '../../src/base/files/file-systems.js';
import { setLogSink } from '../../src/base/log.js';
import { copyCkptFile, waitForAdoption } from '../../src/checkpoint/adopt-checkpoint.js';
import { getCheckpointState, getLatestCheckpointState } from '../../src/checkpoint/checkpoint-state-reader.js';
import { latestCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { prepareModelDir } from '../../src/checkpoint/model-dir.js';
import { getMonolithCheckpointState } from '../../src/checkpoint/monolith-state.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { isabs, SaveHelper } from '../../src/compat/index.js';
import { FakeClock } from '../support/fake-clock.js';
import { quick, sampleSnapshot } from './helpers.js';

const STATE =
  'model_checkpoint_path: "model.ckpt-61"\n' +
  ['61', '30'].map((step) => `all_model_checkpoint_paths: "model.ckpt-${step}"\n`).join('');

/** Runs `body` and gives the warnings it logged. */
async function warnings(body: () => Promise<unknown> | unknown): Promise<string[]> {
  const heard: string[] = [];
  const before = setLogSink((level, event) => void (level === 'warn' && heard.push(event)));
  try {
    await body();
  } finally {
    setLogSink(before);
  }
  return heard;
}

t.test('a state that cannot be parsed is read five times, and one that comes in between is taken', async (t) => {
  const dir = t.testdir({ checkpoint: 'model_ch' });
  const clock = new FakeClock();
  await t.rejects(getCheckpointState(dir, { clock }), { code: 'ML_CKPT_CORRUPT', message: /read ckpt error!/ });
  t.equal(clock.sleeps.length, 4);
  const late = new FakeClock(0, () => writeFileSync(join(dir, 'checkpoint'), STATE));
  t.equal((await getCheckpointState(dir, { clock: late }))?.modelCheckpointPath, join(dir, 'model.ckpt-61'));
  t.equal(late.sleeps.length, 1);
  t.equal(await getCheckpointState(join(dir, 'none')), null);
  const other = await getCheckpointState(dir, { filename: 'checkpoint_input_worker_0' });
  t.equal(other, null, 'another state file');
});

t.test('restore_ckpt acts once in training, each time elsewhere, and never for an unlisted one', async (t) => {
  const dir = t.testdir({ checkpoint: STATE });
  const current = async (options: object) => (await getCheckpointState(dir, options))?.modelCheckpointPath;
  t.equal(await current({ restoreCkpt: 'x/model.ckpt-30', mode: 'eval' }), join(dir, 'model.ckpt-30'));
  t.equal(readFileSync(join(dir, 'checkpoint'), 'utf8'), STATE, 'nothing is written');
  let found: unknown;
  const heard = await warnings(async () => {
    found = await current({ restoreCkpt: 'model.ckpt-7' });
  });
  t.equal(found, join(dir, 'model.ckpt-61'));
  t.same(heard, [`checkpoint ${join(dir, 'model.ckpt-7')} not exists in ${dir}`]);
  t.notOk(existsSync(join(dir, 'restore_ckpt')));

  t.equal(await current({ restoreCkpt: 'model.ckpt-30' }), join(dir, 'model.ckpt-30'));
  t.equal(readFileSync(join(dir, 'restore_ckpt'), 'utf8'), join(dir, 'model.ckpt-30'));
  t.equal(readFileSync(join(dir, 'checkpoint'), 'utf8'), STATE.replace('"model.ckpt-61"', '"model.ckpt-30"'));
  writeFileSync(join(dir, 'checkpoint'), STATE);
  t.equal(await current({ restoreCkpt: 'model.ckpt-30' }), join(dir, 'model.ckpt-61'), 'the marker is there');
  rmSync(join(dir, 'restore_ckpt'));
  t.match(await warnings(() => current({ restoreCkpt: 'model.ckpt-61' })), [/are identity$/]);
});

t.test('the state of a directory is read again when the step grows, or while there is none', async (t) => {
  const dir = t.testdir();
  t.equal(await getLatestCheckpointState(dir, 5), null);
  writeFileSync(join(dir, 'checkpoint'), STATE);
  const first = await getLatestCheckpointState(dir, 5);
  t.match(first?.modelCheckpointPath, /ckpt-61$/);
  writeFileSync(join(dir, 'checkpoint'), STATE.replace('61', '30'));
  t.equal(await getLatestCheckpointState(dir, 5), first);
  t.match((await getLatestCheckpointState(dir, 6))?.modelCheckpointPath, /ckpt-30$/);
  t.same(await new SaveHelper(join(dir, 'model.ckpt')).getExistingCheckpointSteps(), [61, 30]);
  t.equal(new SaveHelper('d/model.ckpt').getCkptPrefix(42), 'd/model.ckpt-42');
});

t.test(
  'monolith_checkpoint: paths of what is gone are left out, and damage gives none with two warnings',
  async (t) => {
    const dir = t.testdir({
      'model.ckpt-3.index': '',
      monolith_checkpoint:
        'exempt_model_checkpoint_paths: "model.ckpt-3"\nexempt_model_checkpoint_paths: "model.ckpt-4"\n',
    });
    t.same(getMonolithCheckpointState(dir)?.exemptModelCheckpointPaths, ['model.ckpt-3', 'model.ckpt-4']);
    const heard = await warnings(() => {
      t.same(getMonolithCheckpointState(dir, null, true)?.exemptModelCheckpointPaths, [join(dir, 'model.ckpt-3')]);
    });
    t.equal(heard.length, 1);
    writeFileSync(join(dir, 'other'), 'colour: 1');
    const damaged = await warnings(() => t.equal(getMonolithCheckpointState(dir, 'other'), null));
    t.equal(damaged.length, 2);
    t.equal(damaged[1], `${join(dir, 'other')}: Checkpoint ignored`);
    t.equal(getMonolithCheckpointState(join(dir, 'none')), null);
  },
);

t.test('restore_dir: an empty directory takes over a checkpoint of another one and spares it', async (t) => {
  const [from, to] = [`${t.testdir()}/R`, `${t.testdir()}/M`];
  for (const step of [30, 61]) await saveCheckpoint(from, sampleSnapshot(step), quick());
  t.match(await warnings(() => copyCkptFile({ restoreDir: `${from}/no`, modelDir: to })), [/^no checkpoint in/]);
  const chosen = await copyCkptFile({ restoreDir: from, modelDir: to, restoreCkpt: 'model.ckpt-30' });
  t.equal(chosen, join(from, 'model.ckpt-30'));
  t.equal(await latestCheckpoint(to), chosen);
  t.same(getMonolithCheckpointState(to)?.exemptModelCheckpointPaths, [chosen]);
  t.equal(readFileSync(join(to, 'restore_ckpt'), 'utf8'), chosen);
  t.equal(await copyCkptFile({ restoreDir: from, modelDir: to }), null, 'once');
  for (const step of [31, 32, 33]) await saveCheckpoint(to, sampleSnapshot(step), { ...quick(), keep: 1 });
  t.ok(existsSync(`${chosen}.index`), 'it is not ours to delete');
  await waitForAdoption(to);
  const other = join(to, 'other');
  mkdirSync(other);
  const clock = new FakeClock(0, (now) => {
    if (now === 60_000) writeFileSync(join(other, 'monolith_checkpoint'), '');
  });
  await waitForAdoption(other, { clock });
  t.same(clock.sleeps, [30_000, 30_000]);
  await t.rejects(waitForAdoption(join(to, 'never'), { clock: new FakeClock(), timeoutMs: 60_000 }), {
    code: 'ML_DEADLINE',
  });
});

t.test('hdfs:/ is absolute, and without a file system of that name an error says how to have one', async (t) => {
  t.ok(isabs('hdfs:/x'));
  t.notOk(isabs('x'));
  const expected = { code: 'ML_FILE_SYSTEM', message: /hdfs/, hint: /registerFileSystem\('hdfs'/ };
  await t.rejects(prepareModelDir('hdfs://host/runs'), expected);
  await t.rejects(latestCheckpoint('hdfs://host/runs'), expected);
  await t.rejects(saveCheckpoint('hdfs:/runs', sampleSnapshot(1)), expected);
  const { fileSystem } = quick();
  const remove = registerFileSystem('hdfs', fileSystem);
  t.equal(fileSystemOf('hdfs:/runs'), fileSystem);
  remove();
  t.throws(() => fileSystemOf('hdfs:/runs'), expected);
});
