import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { nodeFileSystem as fs } from '../../src/base/files/file-system.js';
import { missing } from '../requirement.js';

t.test('makeDirectory makes parents and takes what is there', async (t) => {
  const dir = t.testdir();
  await fs.makeDirectory(join(dir, 'a/b/c'));
  await fs.makeDirectory(join(dir, 'a/b/c/'));
  t.ok(statSync(join(dir, 'a/b/c')).isDirectory());
  symlinkSync(join(dir, 'a'), join(dir, 'link'));
  await fs.makeDirectory(join(dir, 'link/b/d'));
  t.ok(statSync(join(dir, 'a/b/d')).isDirectory());
});

t.test('makeDirectory ends with an error where no directory can be', async (t) => {
  const dir = t.testdir();
  writeFileSync(join(dir, 'file'), '');
  symlinkSync(join(dir, 'nowhere'), join(dir, 'dangling'));
  await t.rejects(fs.makeDirectory(join(dir, 'file')), { code: 'EEXIST' });
  await t.rejects(fs.makeDirectory(join(dir, 'file/x/y')), { code: 'ENOTDIR' });
  await t.rejects(fs.makeDirectory(join(dir, 'dangling')), { code: 'EEXIST' });
  const linuxOnly = process.platform === 'linux' ? {} : { skip: missing('linux', 'there is no /proc') };
  await t.test('also below a folder that knows no new names', linuxOnly, async (t) => {
    await t.rejects(fs.makeDirectory('/proc/monolith/runs'), { code: 'ENOENT' });
  });
});
