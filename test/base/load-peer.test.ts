/** @file Packages that few need: found beside this one or in the project that runs, named where they are missing. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadPeer } from '../../src/base/load-peer.js';
import { runNode } from '../run-node.js';

const load = new URL('../../src/base/load-peer.js', import.meta.url).href;

t.test(
  'a package that is installed is loaded, one that is missing is named with the line that installs it',
  async (t) => {
    t.type((await loadPeer<{ readonly z: object }>('zod', 'the test')).z, 'object');
    await t.rejects(loadPeer('no-such-peer', 'flying'), {
      code: 'ML_PEER',
      message: 'flying needs the package no-such-peer: it is not installed',
      hint: 'npm install no-such-peer',
    });
  },
);

t.test('it is looked for in the project that runs, and one that is broken says why', async (t) => {
  const dir = t.testdir();
  const folder = join(dir, 'node_modules', 'some-peer');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"name":"some-peer","type":"module","exports":"./index.js"}');
  const script = `import { loadPeer } from '${load}';
    const said = ({ code, message }) => code + ': ' + message;
    console.log(await loadPeer('some-peer', 'the test').then(({ five }) => five, said));`;
  writeFileSync(join(folder, 'index.js'), 'export const five = 5;');
  t.match(await runNode(['--input-type=module', '-e', script], { cwd: dir }), { out: /^5\n/ });
  writeFileSync(join(folder, 'index.js'), 'throw new Error("broken");');
  t.match(await runNode(['--input-type=module', '-e', script], { cwd: dir }), {
    out: /^ML_PEER: the test needs the package some-peer: broken\n/,
  });
});
