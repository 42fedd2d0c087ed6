import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { nodeFileSystem } from '../../src/base/files/file-system.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import {
  contentOf,
  faultyFileSystem,
  Killed,
  operationCount,
  quick,
  sampleSnapshot,
  temporaries,
  treeOf,
} from './helpers.js';

for (const [second, what] of [
  [2, 'a new step'],
  [1, 'the same step with other values'],
] as const) {
  t.test(`whichever operation fails while ${what} is saved, the previous checkpoint stays latest`, async (t) => {
    const home = t.testdir();
    const count = await operationCount(join(home, 'count'), 1, second);
    t.ok(count > 30, `${count} operations`);
    for (let at = 0; at < count; at++) {
      const dir = join(home, String(at));
      await saveCheckpoint(dir, sampleSnapshot(1), quick());
      const before = treeOf(dir);
      const fs = faultyFileSystem({ at, mode: 'once', code: 'ENOSPC' });
      try {
        const { warnings } = await saveCheckpoint(dir, sampleSnapshot(second, 5), { keep: 1, fileSystem: fs });
        // Only the clearing away of old files may fail without failing the save.
        t.match(warnings, [/ENOSPC/], `operation ${at}`);
        const latest = await latestCheckpoint(dir);
        t.same(contentOf(await loadCheckpoint(latest!)), contentOf(sampleSnapshot(second, 5)));
      } catch (error) {
        t.match(error, { code: 'ML_CKPT_WRITE', hint: /free some disk space/, cause: { code: 'ENOSPC' } });
        t.same(treeOf(dir), before, `operation ${at} left the directory as it was`);
        t.same(readdirSync(dir).sort(), [...new Set(Object.keys(before).map((name) => name.split('/')[0]))].sort());
      }
    }
  });
}

t.test('a save into a directory with a damaged state file works, deletes nothing and says so', async (t) => {
  const dir = t.testdir();
  await saveCheckpoint(dir, sampleSnapshot(1));
  writeFileSync(join(dir, 'checkpoint'), 'garbage');
  const saved = await saveCheckpoint(dir, sampleSnapshot(2), { keep: 1 });
  t.match(saved.warnings, [/read ckpt error!.*Checkpoint ignored/]);
  t.same(saved.deleted, []);
  t.equal(await latestCheckpoint(dir), saved.path);
  t.equal((await loadCheckpoint(join(dir, 'model.ckpt-1'))).step, 1);
});

t.test('when the clean-up fails as well, both errors are told', async (t) => {
  const dir = t.testdir();
  const refuse = async (): Promise<never> => {
    throw new Killed('gone');
  };
  const fs = { ...nodeFileSystem, rename: refuse, remove: refuse };
  await t.rejects(saveCheckpoint(dir, sampleSnapshot(1), { fileSystem: fs }), {
    code: 'ML_CKPT_WRITE',
    cause: AggregateError,
    hint: /could not be removed/,
  });
  t.equal(await latestCheckpoint(dir), null);
  await saveCheckpoint(dir, sampleSnapshot(1));
  t.same(temporaries(dir), []);
});
