import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { profileIt } from '../../src/train/profile-it.js';

function squares(count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += i * i;
  return sum;
}

t.test('a function is profiled whenever it is called', async (t) => {
  const dir = join(t.testdir({}), 'profiles');
  const profiled = profileIt(squares, { dir });
  t.equal(await profiled(4), 14);
  t.equal(await profiled(2e6), squares(2e6));
  await t.rejects(
    profileIt(
      async () => {
        throw new Error('failed');
      },
      { dir },
    )(),
    { message: 'failed' },
  );
  const files = readdirSync(dir);
  t.equal(files.length, 3, 'a file for each call, also of one that failed');
  const texts = files.map((file) => JSON.parse(readFileSync(join(dir, file), 'utf8')));
  t.ok(texts.every((profile) => profile.endTime >= profile.startTime && profile.nodes.length > 0));
  t.throws(() => profileIt(squares, { folder: dir } as object), { code: 'ML_OPTION' });
});
