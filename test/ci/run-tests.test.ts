/** @file The runner of `npm test`: what it counts, shows and leaves out. The files it runs here are made for it. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runNode } from '../run-node.js';

const tools = fileURLToPath(new URL('../../../.ci', import.meta.url));
const PASSES =
  "console.log('TAP version 14\\nok 1 - a\\nok 2 - b # SKIP cuda: not built\\n# { total: 2, pass: 1, skip: 1 }')";
const FAILS = "console.log('not ok 1 - it broke\\n# { total: 3, pass: 2, fail: 1 }'); process.exitCode = 1";

async function runTests(home: string, files: Record<string, string>, ...args: string[]) {
  cpSync(tools, join(home, '.ci'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(home, 'build/test', name, '..'), { recursive: true });
    writeFileSync(join(home, 'build/test', name), text);
  }
  const { code, out } = await runNode([join(home, '.ci/run-tests.mjs'), ...args], { cwd: home });
  return { code, out, counts: /^# \{ (.*) \}$/m.exec(out)?.[1] };
}

t.test('counts are added up, skips are told, and only failures are shown in full', async (t) => {
  const { code, out, counts } = await runTests(t.testdir(), {
    'a.test.js': PASSES,
    'b/b.test.js': FAILS,
    'c.test.js': "throw new Error('at once')",
    'd.test.js': "process.kill(process.pid, 'SIGKILL')",
    'e.test.js': "console.log('no test in it')",
    'f.test.js': "console.log('TAP version 14\\n1..0 # browser: none here\\n# { total: 0, pass: 0 }')",
    'helper.js': "throw new Error('no test')",
  });
  t.equal(code, 1);
  t.equal(counts, 'total: 9, pass: 3, fail: 4, skip: 2');
  t.match(out, /^ok \d+ - build\/test\/a\.test\.js # time=\d+ms 1 passed\n {4}ok 2 - b # SKIP cuda: not built$/m);
  t.match(
    out,
    /^ {4}ok 1 - build\/test\/f\.test\.js # SKIP browser: none here$/m,
    'a file that was left out as a whole',
  );
  t.notMatch(out, 'ok 1 - a');
  t.match(out, /^not ok \d+ - build\/test\/b\/b\.test\.js .* 1 of 3 failed, ended with 1\n {4}not ok 1 - it broke$/m);
  t.match(out, /c\.test\.js .*ended with 1\n(?: {4}.*\n)* {4}Error: at once$/m);
  t.match(out, /d\.test\.js .*ended with SIGKILL$/m);
  t.match(out, /^not ok \d+ - build\/test\/e\.test\.js/m, 'a file in which nothing ran has not passed');
  t.match(out, /^# failed:\n(# {3}npx tap build\/test\/.*\n){4}/m);
});

t.test('deep runs take what has rounds, plain runs leave out what takes long, and parts of paths choose', async (t) => {
  const files = {
    'plain.test.js': PASSES,
    'long.deep.test.js': PASSES,
    'rounds.js': 'export {}',
    'many/rounds.test.js': `import {} from '../rounds.js'; if (process.env.MONOLITH_TEST_DEEP) console.log('# deep');
${PASSES}`,
  };
  const home = t.testdir({ 'package.json': '{ "type": "module" }' });
  const named = ({ out }: { out: string }) =>
    [...out.matchAll(/build\/test\/(\S+)\.test\.js #/g)].map((m) => m[1]).sort();
  t.same(named(await runTests(home, files)), ['many/rounds', 'plain']);
  t.same(named(await runTests(home, files, '--deep')), ['long.deep', 'many/rounds']);
  t.same(named(await runTests(home, files, '--deep', 'many/')), ['many/rounds']);
  t.equal((await runTests(home, files, 'nowhere')).code, 1, 'nothing to run is a mistake');
});
