import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runNode } from '../run-node.js';

const PROCESS = fileURLToPath(new URL('./flooded-process.js', import.meta.url));

t.test('files of flooded tables are the same for any number of threads and in any process', async (t) => {
  const runs = await Promise.all([
    runNode([PROCESS, '1', '2', '3'], { cwd: '.' }),
    runNode([PROCESS, '3', '1'], { cwd: '.' }),
  ]);
  t.same(
    runs.map(({ code, err }) => ({ code, err })),
    runs.map(() => ({ code: 0, err: '' })),
  );
  const digests = runs.flatMap(({ out }) => out.trim().split(/\s+/));
  t.equal(digests.length, 10);
  t.same(digests, Array(10).fill(digests[0]));
});
