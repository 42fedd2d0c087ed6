import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { getRuntime, NODES, type Source } from './runtimes.js';

const source: Source = { name: 'node 20', kind: 'node', spec: 'monolith-no-such-runtime@20', file: 'some/bin/node' };

t.test('the versions that the README promises are tried', async (t) => {
  t.same(
    NODES.map(({ name }) => name),
    ['node 20', 'node 22', 'node 24', 'node 26'],
  );
});

t.test('a runtime that is there is taken, and one that cannot be had is told of', async (t) => {
  const cache = t.testdir();
  const before = process.env.npm_config_offline;
  t.teardown(() => {
    if (before === undefined) delete process.env.npm_config_offline;
    else process.env.npm_config_offline = before;
  });
  process.env.npm_config_offline = 'true';
  t.match(await getRuntime(source, cache), /^npm install monolith-no-such-runtime@20: /);
  const binary = join(cache, 'node-20', 'node_modules', source.file);
  mkdirSync(dirname(binary), { recursive: true });
  writeFileSync(binary, '#!/bin/sh\necho v20.1.2\n');
  t.match(await getRuntime(source, cache), /does not run: .*EACCES/);
  chmodSync(binary, 0o755);
  t.match(await getRuntime(source, cache), { name: 'node 20.1.2', binary, args: [] });
  t.match(await getRuntime({ ...source, kind: 'deno' }, cache), { args: ['run', '-A', '--quiet'] });
});
