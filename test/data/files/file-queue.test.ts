import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Dataset } from '../../../src/data/dataset.js';
import { FileQueue } from '../../../src/data/files/file-queue.js';

function filesIn(dir: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => {
    const file = join(dir, `part-${n}.csv`);
    writeFileSync(file, `n\n${n}\n${n}\n`);
    return file;
  });
}

t.test('readers get files as they ask, each file once', async (t) => {
  const dir = t.testdir({});
  filesIn(dir, 9);
  const queue = new FileQueue(join(dir, 'part-{INT(0,8)}.csv'));
  const reader = async (index: number, pause: number) => {
    const found: number[] = [];
    for await (const { n } of Dataset.from<{ n: string }>(queue, { shard: { index, count: 3 } })) {
      found.push(Number(n));
      for (let turn = 0; turn < pause; turn++) await new Promise((next) => setImmediate(next));
    }
    return found;
  };
  const [quick, slow, other] = await Promise.all([reader(0, 0), reader(1, 200), reader(2, 0)]);
  const all = [...quick!, ...slow!, ...other!].sort((a, b) => a - b);
  t.same(
    all,
    Array.from({ length: 18 }, (_, row) => row >> 1),
  );
  t.ok(slow!.length < quick!.length + other!.length, 'who is slow holds nobody up');
  t.same(queue.saveState(), { patterns: [], files: [] });
});

t.test('what a reader had when it went, or a run when it stopped, is read again', async (t) => {
  const dir = t.testdir({});
  const files = filesIn(dir, 4);
  const queue = new FileQueue([files[0]!, join(dir, 'part-[123].csv')]);
  t.equal(queue.take(0), files[0]);
  t.equal(queue.take(1), files[1]);
  queue.done(1, files[0]!);
  t.same(queue.saveState().files.slice(0, 2), [files[0], files[1]], 'only who has a file is done with it');
  const state = JSON.parse(JSON.stringify(queue.saveState()));
  queue.done(0, files[0]!);
  queue.giveBack(1);
  t.same([queue.take(0), queue.take(0), queue.take(0), queue.take(0)], [files[1], files[2], files[3], undefined]);
  const again = new FileQueue('*');
  again.restoreState(state);
  t.same([again.take(0), again.take(0), again.take(0), again.take(0)], files);
});

t.test('patterns that match nothing are told of, and none that matches is an error', async (t) => {
  const dir = t.testdir({});
  const [file] = filesIn(dir, 1);
  const queue = new FileQueue([join(dir, 'a*'), file!]);
  t.equal(queue.take(0), file);
  t.throws(() => new FileQueue(join(dir, 'a*')).take(0), { code: 'ML_DATASET', message: /no match files/ });
  t.throws(() => new FileQueue([]), { code: 'ML_DATASET', message: /no files were named/ });
});
