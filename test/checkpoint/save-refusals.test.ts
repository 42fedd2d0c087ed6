import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { prepareModelDir } from '../../src/checkpoint/model-dir.js';
import { checkpointsIn } from '../../src/checkpoint/names.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import type { Settings, Snapshot } from '../../src/checkpoint/snapshot.js';
import { faultyFileSystem, sampleSnapshot, treeOf } from './helpers.js';

t.test('a save never writes over files that are not listed, nor deletes what it does not know', async (t) => {
  const dir = t.testdir({ 'model.ckpt-2.data-00000-of-00001': 'of a user', 'model.ckpt-1.note': 'of a user' });
  const spared = 'exempt_model_checkpoint_paths: "model.ckpt-1"\n';
  writeFileSync(join(dir, 'monolith_checkpoint'), spared);
  await saveCheckpoint(dir, sampleSnapshot(1));
  t.equal((await saveCheckpoint(dir, sampleSnapshot(2), { keep: 1 })).path, join(dir, 'model.ckpt-02'));
  t.equal((await loadCheckpoint(join(dir, 'model.ckpt-1'))).step, 1, 'another state file spares it');
  writeFileSync(join(dir, 'monolith_checkpoint'), 'garbage');
  const careful = await saveCheckpoint(dir, sampleSnapshot(3), { keep: 1 });
  t.match(careful, { deleted: [], warnings: [/monolith_checkpoint/] }, 'what a damaged one spares is not known');
  rmSync(join(dir, 'monolith_checkpoint'));
  mkdirSync(join(dir, 'monolith_checkpoint'));
  const unread = await saveCheckpoint(dir, sampleSnapshot(3), { keep: 1 });
  t.match(unread, { deleted: [], warnings: [/monolith_checkpoint cannot be read/] }, 'nor what cannot be read');
  rmSync(join(dir, 'monolith_checkpoint'), { recursive: true });
  t.same((await saveCheckpoint(dir, sampleSnapshot(4), { keep: 1 })).deleted.length, 3);
  t.same(checkpointsIn(dir), [join(dir, 'model.ckpt-4')]);
  t.equal(readFileSync(join(dir, 'model.ckpt-1.note'), 'utf8'), 'of a user');
  t.equal(readFileSync(join(dir, 'model.ckpt-2.data-00000-of-00001'), 'utf8'), 'of a user');
});

t.test(
  'without the state file nothing is a fresh start: the error lists what is intact and how to go on',
  async (t) => {
    const dir = t.testdir();
    for (const step of [1, 2, 3]) await saveCheckpoint(dir, sampleSnapshot(step));
    rmSync(join(dir, 'checkpoint'));
    writeFileSync(join(dir, 'model.ckpt-2.index'), 'damaged');
    const error: unknown = await latestCheckpoint(dir).catch((cause: unknown) => cause);
    t.match(error, {
      code: 'ML_CKPT_CORRUPT',
      message: /it is missing, though there are model\.ckpt-3, model\.ckpt-2, model\.ckpt-1$/,
      fields: { file: join(dir, 'checkpoint'), intact: join(dir, 'model.ckpt-3') },
      hint: new RegExp(
        'model\\.ckpt-3 is intact: .*write model_checkpoint_path: "model\\.ckpt-3" to .*checkpoint.*; ' +
          'intact too: model\\.ckpt-1$',
      ),
    });
    const saved = await saveCheckpoint(join(dir, '.'), sampleSnapshot(4), { keep: 1 });
    t.match(saved, { deleted: [], warnings: [/checkpoint is missing; left as they are: model\.ckpt-3/] });
    t.equal(checkpointsIn(dir).length, 4);
    rmSync(join(dir, 'checkpoint'));
    writeFileSync(join(dir, 'checkpoint'), 'model_checkpoint_path: "model.ckpt-3"\n');
    t.equal(await latestCheckpoint(dir), join(dir, 'model.ckpt-3'), 'as the hint says');
  },
);

t.test("another model's checkpoint is refused with what was expected and found", async (t) => {
  const { path } = await saveCheckpoint(t.testdir(), sampleSnapshot(1));
  const base = sampleSnapshot(1);
  const [user, bias] = base.tables;
  const others: [Partial<Snapshot>, string, string][] = [
    [{ modelName: 'dnn' }, 'dnn', 'ffm'],
    [{ dense: base.dense.slice(1) }, 'b, n, k', 'also w'],
    [{ tables: [user!, { ...bias!, segments: [{ dim: 2, optimizer: 'sgd' }] }] }, 'sgd[2]', 'sgd[1]'],
    [{ tables: [user!, { ...bias!, segments: [{ dim: 1, optimizer: 'adagrad' }] }] }, 'adagrad[1]', 'sgd[1]'],
    [{ tables: [user!, { ...bias!, name: 'z' }] }, 'z', 'MonolithHashTable_user:0/x, MonolithHashTable_bias'],
    [
      { dense: base.dense.map((v) => ({ ...v, shape: v.name === 'w' ? [4] : v.shape })) },
      'float32[4]',
      'float32[2, 2]',
    ],
  ];
  for (const [change, expected, found] of others) {
    const load = loadCheckpoint(path, { expect: { ...base, ...change } });
    await t.rejects(load, { code: 'ML_CKPT_MODEL', fields: { expected, found }, hint: /another model directory/ });
  }
});

t.test('a snapshot that cannot be a checkpoint is refused before anything is written', async (t) => {
  const dir = t.testdir();
  const base = sampleSnapshot(1);
  const [dense] = base.dense;
  const [user, bias] = base.tables;
  const bad: [Partial<Snapshot>, RegExp][] = [
    [{ step: -1 }, /step -1/],
    [{ dense: [dense!, dense!] }, /same name: w/],
    [{ dense: [{ ...dense!, name: 'global_step' }] }, /same name: global_step/],
    [{ dense: [{ ...dense!, shape: [5] }] }, /4 values for shape \[5\]/],
    [{ dense: [{ ...dense!, dtype: 'int32' }] }, /does not hold int32/],
    [{ tables: [bias!, bias!] }, /same name/],
    [{ tables: [{ ...bias!, segments: [] }] }, /no segments/],
    [{ tables: [{ ...user!, rowCount: 2 }] }, /more than the 2 rows/],
    [{ tables: [{ ...user!, rowCount: 4 }] }, /ended after 3 of the 4 rows/],
    [{ tables: [{ ...user!, segments: bias!.segments }] }, /3 weights, expected 1/],
  ];
  for (const [change, message] of bad) {
    await t.rejects(saveCheckpoint(dir, { ...base, ...change }), { code: 'ML_CKPT_WRITE', message });
    t.same(readdirSync(dir), []);
  }
});

t.test('what stands in the place of a file of the directory is named', async (t) => {
  const dir = t.testdir({ 'checkpoint.pending': {} });
  await t.rejects(saveCheckpoint(dir, sampleSnapshot(1)), {
    code: 'ML_CKPT_WRITE',
    fields: { file: join(dir, 'checkpoint.pending') },
  });
});

t.test('settings are kept exactly or refused by name, before anything is written', async (t) => {
  const dir = t.testdir();
  const kept = {
    half: '\ud800',
    text: 'ä "\\n',
    whole: 3,
    tiny: 5e-324,
    yes: true,
    no: false,
    '': 'unnamed',
    1: 'one',
  };
  const { path } = await saveCheckpoint(dir, { ...sampleSnapshot(1), settings: kept });
  t.same((await loadCheckpoint(path)).settings, kept);
  const before = treeOf(dir);
  const odd: readonly unknown[] = [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -0,
    undefined,
    null,
    1n,
    Symbol('s'),
    [1],
    { a: 1 },
    new Date(0),
    () => 1,
  ];
  for (const value of odd) {
    const settings = { fine: 1, odd: value } as unknown as Settings;
    await t.rejects(saveCheckpoint(dir, { ...sampleSnapshot(2), settings }), {
      code: 'ML_CKPT_WRITE',
      fields: { field: 'settings.odd' },
      hint: /finite numbers/,
    });
  }
  const names: Partial<Snapshot>[] = [
    { settings: JSON.parse('{"__proto__":"x"}') as Settings },
    { modelName: undefined as unknown as string },
    { dense: [{ ...sampleSnapshot(2).dense[0]!, name: '\ud800' }] },
    { tables: [{ ...sampleSnapshot(2).tables[1]!, name: 'a\ud800' }] },
  ];
  for (const change of names) {
    await t.rejects(saveCheckpoint(dir, { ...sampleSnapshot(2), ...change }), { code: 'ML_CKPT_WRITE' });
  }
  t.same(treeOf(dir), before);
});

t.test('a model directory is created, and one that cannot be used is refused with a hint', async (t) => {
  const dir = t.testdir({ file: 'text' });
  await prepareModelDir(join(dir, 'a', 'b'));
  await prepareModelDir(join(dir, 'a', 'b'));
  t.same(readdirSync(join(dir, 'a', 'b')), [], 'the probe is gone');
  const refused = { code: 'ML_DIR', hint: /this user can create and write/ };
  await t.rejects(prepareModelDir(join(dir, 'file')), { ...refused, message: /it is a file/ });
  await t.rejects(prepareModelDir(join(dir, 'file', 'below')), refused);
  await t.rejects(prepareModelDir(''), refused);
  for (const code of ['EACCES', 'EROFS', 'ENOSPC']) {
    for (let at = 0; at < 5; at++) {
      const home = join(dir, 'probe');
      mkdirSync(home, { recursive: true });
      const fs = faultyFileSystem({ at, mode: 'once', code });
      await t.rejects(prepareModelDir(home, fs), { ...refused, message: new RegExp(code) });
      t.same(readdirSync(home), []);
    }
  }
  if (process.getuid?.() !== 0) {
    mkdirSync(join(dir, 'locked'), { mode: 0o500 });
    await t.rejects(prepareModelDir(join(dir, 'locked')), { ...refused, message: /EACCES/ });
  }
});
