import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { FAULTS } from '../faults/rounds.js';
import { contentOf, sampleSnapshot, treeOf } from './helpers.js';

async function codeOf(action: Promise<unknown>): Promise<string> {
  try {
    await action;
    return 'none';
  } catch (error) {
    return error instanceof MonolithError ? error.code : String(error);
  }
}

t.test('a flipped bit anywhere in a checkpoint is refused', async (t) => {
  const dir = t.testdir();
  const { path } = await saveCheckpoint(dir, sampleSnapshot(3, 2));
  for (const name of Object.keys(treeOf(dir)).filter((file) => file !== 'checkpoint')) {
    const file = join(dir, name);
    const whole = new Uint8Array(readFileSync(file));
    const missed: number[] = [];
    for (let at = 0; at < whole.length; at++) {
      const damaged = whole.slice();
      damaged[at]! ^= 1 << (at % 8);
      writeFileSync(file, damaged);
      if ((await codeOf(loadCheckpoint(path))) !== 'ML_CKPT_CORRUPT') missed.push(at);
    }
    writeFileSync(file, whole);
    t.same(missed, [], name);
  }
  t.equal((await loadCheckpoint(path)).step, 3, 'whole again');
});

t.test('a file cut anywhere, or gone, is refused', async (t) => {
  const dir = t.testdir();
  const { path } = await saveCheckpoint(dir, sampleSnapshot(3, 2));
  for (const name of Object.keys(treeOf(dir)).filter((file) => file !== 'checkpoint')) {
    const file = join(dir, name);
    const whole = new Uint8Array(readFileSync(file));
    const missed: number[] = [];
    // Every length in a deep run.
    const step = FAULTS > 1 ? 1 : Math.max(1, Math.floor(whole.length / 60));
    for (let cut = 0; cut < whole.length; cut += cut + step > whole.length - 20 ? 1 : step) {
      writeFileSync(file, whole.subarray(0, cut));
      if ((await codeOf(loadCheckpoint(path))) !== 'ML_CKPT_CORRUPT') missed.push(cut);
    }
    writeFileSync(file, Buffer.concat([whole, Buffer.from([0])]));
    if ((await codeOf(loadCheckpoint(path))) !== 'ML_CKPT_CORRUPT') missed.push(whole.length + 1);
    t.same(missed, [], name);
    rmSync(file);
    await t.rejects(loadCheckpoint(path), { code: 'ML_CKPT_CORRUPT', fields: { file }, message: /missing/ });
    writeFileSync(file, whole);
  }
  t.equal((await loadCheckpoint(path)).step, 3, 'whole again');
});

t.test('damage in the state file never gives anything but an intact checkpoint or an error', async (t) => {
  const dir = t.testdir();
  for (const step of [2, 3]) await saveCheckpoint(dir, sampleSnapshot(step, 1));
  const file = join(dir, 'checkpoint');
  const whole = new Uint8Array(readFileSync(file));
  let refused = 0;
  for (let at = 0; at < whole.length; at++) {
    const damaged = whole.slice();
    damaged[at]! ^= 1 << (at % 8);
    writeFileSync(file, damaged);
    try {
      const latest = await latestCheckpoint(dir);
      if (latest === null) t.fail(`byte ${at} made the checkpoints disappear`);
      else {
        const { step } = await loadCheckpoint(latest);
        t.ok(step === 2 || step === 3);
      }
    } catch (error) {
      refused++;
      t.match(error, { code: 'ML_CKPT_CORRUPT', fields: { file }, hint: /model\.ckpt-3 is intact/ });
    }
  }
  t.ok(refused > whole.length / 3);
  for (let cut = 0; cut < 30; cut++) {
    writeFileSync(file, whole.subarray(0, cut));
    await t.rejects(latestCheckpoint(dir), { code: 'ML_CKPT_CORRUPT' });
  }
});

t.test('an error names file, record, field and the checkpoint that is intact', async (t) => {
  const dir = t.testdir();
  const good = await saveCheckpoint(dir, sampleSnapshot(1));
  const { path } = await saveCheckpoint(dir, sampleSnapshot(2));
  const file = join(`${path}.assets`, 'MonolithHashTable_user-0-x-00000-of-00001');
  const whole = new Uint8Array(readFileSync(file));
  const recordBytes = whole.length / 3;

  const flipped = whole.slice();
  flipped[recordBytes + 20]! ^= 4;
  writeFileSync(file, flipped);
  await t.rejects(loadCheckpoint(path), {
    code: 'ML_CKPT_CORRUPT',
    fields: { file, record: 1, field: 'payload checksum', intact: good.path },
    hint: /model\.ckpt-1 is intact/,
  });

  writeFileSync(file, whole.subarray(0, 2 * recordBytes));
  await t.rejects(
    loadCheckpoint(path),
    { code: 'ML_CKPT_CORRUPT', fields: { file, record: 2, field: 'size' } },
    'cut between two records, where every record is whole',
  );

  writeFileSync(file, Buffer.concat([whole.subarray(recordBytes), whole.subarray(0, recordBytes)]));
  await t.rejects(loadCheckpoint(path), { code: 'ML_CKPT_CORRUPT', fields: { file, field: 'checksum' } }, 'reordered');
  writeFileSync(file, whole);

  const data = `${path}.data-00000-of-00001`;
  const values = new Uint8Array(readFileSync(data));
  values[values.length - 1]! ^= 1;
  writeFileSync(data, values);
  await t.rejects(loadCheckpoint(path), { code: 'ML_CKPT_CORRUPT', fields: { file: data, field: 'w' } });

  rmSync(`${good.path}.index`);
  await t.rejects(loadCheckpoint(path), { code: 'ML_CKPT_CORRUPT', hint: /no other checkpoint/ });
});

t.test('files of two saves mixed together are refused', async (t) => {
  const dir = t.testdir({ a: {}, b: {} });
  const a = await saveCheckpoint(join(dir, 'a'), sampleSnapshot(1));
  const b = await saveCheckpoint(join(dir, 'b'), { ...sampleSnapshot(1), tables: sampleSnapshot(2).tables });
  const name = '.assets/MonolithHashTable_user-0-x-00000-of-00001';
  writeFileSync(`${a.path}${name}`, readFileSync(`${b.path}${name}`));
  await t.rejects(loadCheckpoint(a.path), { code: 'ML_CKPT_CORRUPT', fields: { field: 'checksum' } });
});

t.test('a table file that changes after loading is noticed while its rows are read', async (t) => {
  const { path } = await saveCheckpoint(t.testdir(), sampleSnapshot(1));
  const loaded = await loadCheckpoint(path);
  const before = contentOf(loaded);
  t.same(before, contentOf(sampleSnapshot(1)));
  const file = `${path}.assets/MonolithHashTable_bias-00000-of-00001`;
  const whole = new Uint8Array(readFileSync(file));
  writeFileSync(file, '');
  t.throws(() => contentOf(loaded), { code: 'ML_CKPT_CORRUPT' });
  whole[15]! ^= 1;
  writeFileSync(file, whole);
  t.throws(() => contentOf(loaded), { code: 'ML_CKPT_CORRUPT', fields: { file, record: 0 } });
});
