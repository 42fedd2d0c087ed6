import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { copyFile, copyRecursively } from '../../src/base/files/copy-files.js';

t.test('testMultiThreadedCopy: a tree arrives whole, whatever the number of workers', async (t) => {
  for (const maxWorkers of [1, 2, 7]) {
    const dir = t.testdir({
      src: { a: 'one', empty: {}, b: { 'c.txt': 'two', d: { e: 'three', f: 'four' } } },
      dst: { old: 'gone' },
    });
    const dst = join(dir, 'dst');
    t.equal(await copyRecursively(join(dir, 'src'), dst, { maxWorkers }), 4);
    t.same(readdirSync(dst, { recursive: true }).sort(), readdirSync(join(dir, 'src'), { recursive: true }).sort());
    t.equal(readFileSync(join(dst, 'b/d/f'), 'utf8'), 'four');
    t.notOk(existsSync(join(dst, 'old')), 'what was there is gone');
  }
});

t.test('a source that is not there is skipped or refused', async (t) => {
  const dir = t.testdir({ dst: { kept: 'x' } });
  const [src, dst] = [join(dir, 'none'), join(dir, 'dst')];
  t.equal(await copyRecursively(src, dst), 0);
  t.ok(existsSync(join(dst, 'kept')), 'the target is left alone');
  await t.rejects(copyRecursively(src, dst, { skipNonexist: false }), { code: 'ML_FILE_READ', message: /none/ });
  t.equal(await copyFile(src, join(dir, 'copy')), false);
  await t.rejects(copyFile(src, join(dir, 'copy'), { skipNonexist: false }), { code: 'ML_FILE_READ' });
});

t.test('a file is replaced unless told not to', async (t) => {
  const dir = t.testdir({ a: 'new', b: 'old' });
  const [a, b] = [join(dir, 'a'), join(dir, 'b')];
  await t.rejects(copyFile(a, b, { overwrite: false }), { code: 'ML_FILE_READ' });
  t.equal(readFileSync(b, 'utf8'), 'old');
  t.equal(await copyFile(a, b), true);
  t.equal(readFileSync(b, 'utf8'), 'new');
});

t.test('a failing copy is tried again and then told', async (t) => {
  const dir = t.testdir({ a: 'x' });
  // There is no folder to copy to until an attempt has failed.
  const target = join(dir, 'later', 'a');
  await t.rejects(copyFile(join(dir, 'a'), target, { maxRetries: 2 }), { code: 'ML_FILE_READ', message: /later/ });
  const copying = copyFile(join(dir, 'a'), target, { maxRetries: 10_000 });
  mkdirSync(join(dir, 'later'));
  t.equal(await copying, true);
});
