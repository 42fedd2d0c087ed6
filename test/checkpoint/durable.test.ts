/** @file A save that has resolved survives a loss of power: what it wrote and renamed was forced to disk before. */
import { basename, dirname } from 'node:path';
import t from 'tap';
import { type FileSystem, nodeFileSystem } from '../../src/base/files/file-system.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { sampleSnapshot } from './helpers.js';

type Operation = readonly [what: 'create' | 'write' | 'sync' | 'rename' | 'syncDirectory', path: string, to?: string];

/** The real file system, and what was done on it in order. */
function recorded(log: Operation[]): FileSystem {
  return {
    ...nodeFileSystem,
    async create(path) {
      log.push(['create', path]);
      const file = await nodeFileSystem.create(path);
      return {
        async write(bytes) {
          log.push(['write', path]);
          await file.write(bytes);
        },
        async sync() {
          log.push(['sync', path]);
          await file.sync();
        },
        close: () => file.close(),
      };
    },
    async rename(from, to) {
      log.push(['rename', from, to]);
      await nodeFileSystem.rename(from, to);
    },
    async syncDirectory(path) {
      log.push(['syncDirectory', path.replace(/\/$/, '')]);
      await nodeFileSystem.syncDirectory(path);
    },
  };
}

t.test('files are forced to disk before they get their names, and the names before the save resolves', async (t) => {
  const dir = t.testdir();
  await saveCheckpoint(dir, sampleSnapshot(1));
  const log: Operation[] = [];
  await saveCheckpoint(dir, sampleSnapshot(2), { fileSystem: recorded(log) });
  const renames = log.flatMap(([what, from, to], at) => (what === 'rename' ? [{ from, to: to!, at }] : []));
  t.ok(renames.length >= 3, `${renames.length} renames`);
  for (const { from, to, at } of renames) {
    const [forced, written] = (['sync', 'write'] as const).map((kind) =>
      log.findLastIndex(([what, path], index) => index < at && what === kind && path === from),
    ) as [number, number];
    t.ok(forced > written || written < 0, `${basename(to)} was forced after its last write`);
    const named = log.findIndex(
      ([what, path], index) => index > at && what === 'syncDirectory' && path === dirname(to),
    );
    t.ok(named > at, `the name ${basename(to)} was forced`);
  }
  const unforced = log.filter(
    ([what, path]) => what === 'create' && !log.some(([other, synced]) => other === 'sync' && synced === path),
  );
  t.same(unforced, [], 'no file was left to the system');
});
