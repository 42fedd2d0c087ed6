import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import t from 'tap';
import { CallPlace, placeOf } from '../../src/base/call-place.js';

const own = fileURLToPath(new URL('../../src/graph/graph.js', import.meta.url));

t.test('the place is the first frame outside the package and Node', async (t) => {
  const frames = (...lines: string[]) => ['Error', ...lines.map((line) => `    at ${line}`)].join('\n');
  const user = pathToFileURL(join(process.cwd(), 'models', 'my ranker.mjs')).href;
  const inside = `Graph.add (${pathToFileURL(own).href}:12:3)`;
  t.equal(placeOf(frames(inside, `build (${user}:7:11)`)), 'models/my ranker.mjs:7:11');
  t.equal(placeOf(frames(inside, `async ${user}:8:1`)), 'models/my ranker.mjs:8:1');
  t.equal(placeOf(frames(`new Tower [as x] (${own}:1:1)`, `${user}:9:2`)), 'models/my ranker.mjs:9:2');
  t.equal(
    placeOf(frames('Array.map (<anonymous>)', 'node:internal/x:1:1', '/far/away (1)/m.js:3:4')),
    '/far/away (1)/m.js:3:4',
  );
  t.equal(placeOf(frames('f (/far/away (1)/m.js:3:4)')), '/far/away (1)/m.js:3:4');
  t.equal(placeOf(frames(inside, 'Promise.all (index 0)', 'eval (eval at x (/a.js:1:1), <anonymous>:1:1)')), undefined);
  t.equal(placeOf(frames(inside, '/app/node_modules/commander/lib/command.js:1122:5')), undefined);
  t.equal(placeOf(''), undefined);
});

t.test('a place is that of the line that took it, and leaves the limit of stacks as it was', async (t) => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  const deep = (depth: number): CallPlace => (depth === 0 ? new CallPlace() : deep(depth - 1));
  const place = deep(20);
  t.equal(Error.stackTraceLimit, 1);
  Error.stackTraceLimit = limit;
  t.match(place.text, /^build\/test\/base\/call-place\.test\.js:\d+:\d+$|call-place\.test\.ts:\d+:\d+$/);
  t.equal(place.text, place.text);
});

t.test('with source maps it is the line that was written; frozen intrinsics do no harm', async (t) => {
  const module = new URL('../../src/index.js', import.meta.url).href;
  const source = `import { Graph, ops } from '${module}';
const x = ops.placeholder(new Graph(), { name: 'x', width: 3 });
try { ops.matMul(x, x); } catch (error) { console.log(error.fields.place); }`;
  for (const flag of ['--enable-source-maps', '--frozen-intrinsics']) {
    const file = join(t.testdir({ 'm.mjs': source }), 'm.mjs');
    const { stdout, stderr } = spawnSync(process.execPath, [flag, '--no-warnings', file], { encoding: 'utf8' });
    t.match(stdout, /m\.mjs:3:11\n$/, `${flag} ${stderr}`);
  }
});
