import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { formatOwner, thisOwner } from '../../src/checkpoint/lock-owner.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { contentOf, faultyFileSystem, operationCount, quick, sampleSnapshot, temporaries, treeOf } from './helpers.js';

/** What is in `dir` besides the state file and the checkpoints it lists. */
function unlisted(dir: string): string[] {
  const text = existsSync(join(dir, 'checkpoint')) ? readFileSync(join(dir, 'checkpoint'), 'utf8') : '';
  const listed = [...text.matchAll(/"(.+)"/g)].map(([, name]) => `${name}.`);
  return readdirSync(dir).filter((name) => name !== 'checkpoint' && !listed.some((start) => name.startsWith(start)));
}

t.test('wherever a save is killed, the previous checkpoint is latest and the next save cleans up', async (t) => {
  const home = t.testdir();
  const count = await operationCount(join(home, 'count'), 1, 2);
  const clean = join(home, 'clean');
  await saveCheckpoint(clean, sampleSnapshot(1));
  await saveCheckpoint(clean, sampleSnapshot(2, 5), { keep: 1 });
  let leftovers = 0;
  for (let at = 0; at < count; at++) {
    const dir = join(home, String(at));
    await saveCheckpoint(dir, sampleSnapshot(1), quick());
    const fs = faultyFileSystem({ at, mode: 'kill' });
    const outcome = await saveCheckpoint(dir, sampleSnapshot(2, 5), { keep: 1, fileSystem: fs }).catch(
      (e: unknown) => e,
    );
    if (outcome instanceof Error) t.ok(outcome instanceof MonolithError && outcome.code === 'ML_CKPT_WRITE');
    leftovers += temporaries(dir).length;

    const latest = await latestCheckpoint(dir);
    const loaded = await loadCheckpoint(latest!);
    t.same(
      contentOf(loaded),
      contentOf(loaded.step === 1 ? sampleSnapshot(1) : sampleSnapshot(2, 5)),
      `killed at ${at}`,
    );

    await saveCheckpoint(dir, sampleSnapshot(2, 5), { keep: 1, ...quick() });
    t.same(temporaries(dir), []);
    if (loaded.step === 1) t.same(treeOf(dir), treeOf(clean), 'as if nothing had happened');
    else t.equal((await loadCheckpoint(join(dir, 'model.ckpt-2'))).step, 2);
  }
  t.ok(leftovers > 10, 'the kills did leave something to clean');
});

t.test('a kill while a step is saved again with other values leaves the old or the new one whole', async (t) => {
  const home = t.testdir();
  const count = await operationCount(join(home, 'count'), 1, 1);
  const versions = [sampleSnapshot(1), sampleSnapshot(1, 5)].map((version) => JSON.stringify(contentOf(version)));
  const seen = new Set<string>();
  for (let at = 0; at < count; at++) {
    const dir = join(home, String(at));
    await saveCheckpoint(dir, sampleSnapshot(1), quick());
    const fs = faultyFileSystem({ at, mode: 'kill' });
    const killed = await saveCheckpoint(dir, sampleSnapshot(1, 5), { fileSystem: fs }).catch((e: unknown) => e);
    t.ok(!(killed instanceof Error) || killed instanceof MonolithError);
    const loaded = JSON.stringify(contentOf(await loadCheckpoint((await latestCheckpoint(dir))!)));
    t.ok(versions.includes(loaded), `killed at ${at}`);
    seen.add(loaded);
    await saveCheckpoint(dir, sampleSnapshot(1, 5), quick());
    t.same(contentOf(await loadCheckpoint((await latestCheckpoint(dir))!)), contentOf(sampleSnapshot(1, 5)));
    t.same(unlisted(dir), [], `killed at ${at}`);
  }
  t.equal(seen.size, 2);
});

t.test('whole checkpoints that a killed save added or dropped are deleted by the next one', async (t) => {
  const home = t.testdir();
  const count = await operationCount(join(home, 'count'), 1, 2);
  let leaked = 0;
  // The end of a save, where names and the state change; kills before leave temporary names only.
  for (let at = count - 24; at < count; at++) {
    const dir = join(home, String(at));
    for (const step of [1, 2]) await saveCheckpoint(dir, sampleSnapshot(step), quick());
    // Whole, intact and not listed, as if copied here: nobody's business.
    for (const end of ['index', 'data-00000-of-00001', 'assets']) {
      cpSync(join(dir, `model.ckpt-1.${end}`), join(dir, `model.ckpt-700.${end}`), { recursive: true });
    }
    const fs = faultyFileSystem({ at, mode: 'kill' });
    await saveCheckpoint(dir, sampleSnapshot(4, 5), { keep: 1, fileSystem: fs }).catch(() => {});
    leaked += unlisted(dir).some((name) => name.endsWith('.index') && !name.includes('700')) ? 1 : 0;
    await saveCheckpoint(dir, sampleSnapshot(5), { keep: 2, ...quick() });
    t.same(
      unlisted(dir),
      ['model.ckpt-700.assets', 'model.ckpt-700.data-00000-of-00001', 'model.ckpt-700.index'],
      `killed at ${at}`,
    );
  }
  t.ok(leaked > 5, `${leaked} kills left whole checkpoints`);
});

t.test('a first save that was killed before it counted is a fresh start', async (t) => {
  const home = t.testdir();
  const count = await operationCount(join(home, 'count'), 1, 2);
  let unlistedSaves = 0;
  for (let at = count - 32; at < count; at++) {
    const dir = join(home, String(at));
    const fs = faultyFileSystem({ at, mode: 'kill' });
    await saveCheckpoint(dir, sampleSnapshot(1), { fileSystem: fs }).catch(() => {});
    const latest = await latestCheckpoint(dir);
    if (latest !== null) t.equal((await loadCheckpoint(latest)).step, 1, `killed at ${at}`);
    else if (existsSync(join(dir, 'model.ckpt-1.index'))) unlistedSaves++;
    await saveCheckpoint(dir, sampleSnapshot(2), quick());
    t.same(unlisted(dir), [], `killed at ${at}`);
  }
  t.ok(unlistedSaves > 0);
});

t.test('a killed save of another step leaves nothing after the next save', async (t) => {
  const home = t.testdir();
  const count = await operationCount(join(home, 'count'), 1, 2);
  for (let at = 0; at < count; at += 3) {
    const dir = join(home, String(at));
    await saveCheckpoint(dir, sampleSnapshot(1), quick());
    const fs = faultyFileSystem({ at, mode: 'kill' });
    await saveCheckpoint(dir, sampleSnapshot(2, 5), { fileSystem: fs }).catch(() => {});
    await saveCheckpoint(dir, sampleSnapshot(3), quick());
    t.same(temporaries(dir), []);
    const withoutIndex = readdirSync(dir)
      .filter((name) => name.startsWith('model.ckpt-2.'))
      .filter(() => !readdirSync(dir).includes('model.ckpt-2.index'));
    t.same(withoutIndex, [], `killed at ${at}`);
    t.equal((await loadCheckpoint((await latestCheckpoint(dir))!)).step, 3);
  }
});

t.test('leftovers of a killed process are ignored by readers; foreign assets are left alone', async (t) => {
  const dir = t.testdir();
  const { path } = await saveCheckpoint(dir, sampleSnapshot(1));
  const hex = '0123456789abcdef'.repeat(2);
  writeFileSync(join(dir, `checkpoint.tmp${hex}`), 'model_checkpoint_path: "nowhere"');
  writeFileSync(`${path}.index.tmp${hex}`, '');
  for (const name of ['run.json', 'schema.json', 'side-1.jsonl']) writeFileSync(join(dir, `${name}.tmp${hex}`), '');
  mkdirSync(join(dir, `model.ckpt-2.assets.tmp${hex}`));
  mkdirSync(join(dir, 'model.ckpt-9.assets'));
  writeFileSync(join(dir, `mine.tmp${hex}`), '');
  // Of who was killed while it took the lock, and of who takes it now.
  const gone = spawnSync(process.execPath, ['-e', '0']).pid;
  writeFileSync(join(dir, `monolith.lock.tmp${hex}`), formatOwner({ ...thisOwner(), pid: gone }));
  const living = `monolith.lock.tmp${'f'.repeat(32)}`;
  writeFileSync(join(dir, living), formatOwner(thisOwner()));
  writeFileSync(join(`${path}.assets`, 'MonolithHashTable_bias-00000-of-00001-tmp-77'), 'x');
  t.equal(await latestCheckpoint(dir), path);
  t.same(contentOf(await loadCheckpoint(path)), contentOf(sampleSnapshot(1)));
  await saveCheckpoint(dir, sampleSnapshot(2), { keep: 1 });
  t.same(
    readdirSync(dir).filter((name) => !name.startsWith('model.ckpt-2.')),
    ['checkpoint', `mine.tmp${hex}`, 'model.ckpt-9.assets', living].sort(),
  );
});

t.test('rows whose state and index files were lost are not deleted by a save', async (t) => {
  const dir = t.testdir();
  const { path } = await saveCheckpoint(dir, sampleSnapshot(5));
  rmSync(join(dir, 'checkpoint'));
  rmSync(`${path}.index`);
  const before = treeOf(dir);
  await saveCheckpoint(dir, sampleSnapshot(9));
  t.match(treeOf(dir), before);
});
