import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type FileSystem, nodeFileSystem } from '../../../src/base/files/file-system.js';
import type { DumpSegment } from '../../../src/io/optimizer-dump.js';
import { writeShard } from '../../../src/sparse/files/shard-writer.js';
import { sampleRows, TestTable } from './fixture.js';

const ADAGRAD: readonly DumpSegment[] = [{ dim: 3, optimizer: 'adagrad' }];

/**
 * Files whose `failing`-th sync, counted from 1, fails, and others do nothing: how many there are must not depend on a
 * disk.
 */
function countingFileSystem(failing: number): FileSystem & { readonly syncs: number; readonly open: number } {
  let [syncs, open] = [0, 0];
  return {
    ...nodeFileSystem,
    get syncs() {
      return syncs;
    },
    get open() {
      return open;
    },
    async create(path) {
      const file = await nodeFileSystem.create(path);
      open++;
      return {
        write: (bytes) => file.write(bytes),
        sync: () => (++syncs === failing ? Promise.reject(new Error('EIO: lost a page')) : Promise.resolve()),
        close: () => {
          open--;
          return file.close();
        },
      };
    },
  };
}

t.test('a long shard is forced to disk while it is written, and no failure of that is lost', async (t) => {
  const dir = t.testdir({});
  const table = await TestTable.create({ segments: ADAGRAD });
  table.put(sampleRows(400, ADAGRAD));
  const options = { bufferBytes: 500, syncBytes: 2000 };
  const range = { begin: 0, end: 400 };
  await writeShard(table.image, range, join(dir, 'plain'), nodeFileSystem, { sync: false });
  const whole = countingFileSystem(0);
  await writeShard(table.image, range, join(dir, 'whole'), whole, options);
  t.ok(whole.syncs > 2, `${whole.syncs} syncs`);
  t.same(readFileSync(join(dir, 'whole')), readFileSync(join(dir, 'plain')));
  for (const failing of [1, 2]) {
    const fs = countingFileSystem(failing);
    await t.rejects(writeShard(table.image, range, join(dir, `${failing}`), fs, options), { message: /EIO/ });
    t.equal(fs.open, 0);
  }
  const unsynced = countingFileSystem(0);
  await writeShard(table.image, range, join(dir, 'unsynced'), unsynced, { ...options, sync: false });
  t.equal(unsynced.syncs, 0);
});
