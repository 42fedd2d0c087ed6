import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { BENCHES } from '../../bench/main.js';
import { runNode } from '../run-node.js';

const MAIN = fileURLToPath(new URL('../../bench/main.js', import.meta.url));

t.test('every bench that is listed is there', async (t) => {
  for (const [name, { module }] of Object.entries(BENCHES)) {
    t.ok(existsSync(new URL(`../../bench/${module}`, import.meta.url)), name);
  }
});

t.test('a bench is run by its name, and without one they are listed', async (t) => {
  const folder = t.testdir();
  const { code, err } = await runNode([MAIN, 'nothing'], { cwd: folder });
  t.equal(code, 2);
  for (const name of Object.keys(BENCHES)) t.match(err, new RegExp(`^ {2}${name} `, 'm'));
  const made = await runNode([MAIN, 'ctr-ref', folder, '--train', '40', '--test', '10'], { cwd: folder });
  t.equal(made.code, 0);
  t.match(JSON.parse(made.out), { train: { examples: 40 } });
});
