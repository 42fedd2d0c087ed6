import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { loadModule } from '../../src/base/load-module.js';

// Outside of the repository, whose package.json would give programs a copy of the package.
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'monolith-load-')));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};

t.test('TypeScript runs as it is, and the package it imports is the running one', async (t) => {
  file('other.ts', 'export const five: number = 5;');
  const model = file(
    'model.ts',
    `import { MonolithError, type Model } from 'monolith-ts';
import { HashTable } from 'monolith-ts/tables';
import { five } from './other.ts';
enum Kind { small = 3 }
export const made: { kind: Kind } = { kind: Kind.small };
export const later = await Promise.resolve(five);
export default [MonolithError, typeof HashTable] as (Model | unknown)[];
`,
  );
  const module = await loadModule(model);
  t.match(module, { made: { kind: 3 }, later: 5 });
  const [error, table] = module.default as [unknown, string];
  t.equal(error, MonolithError, 'one copy of the classes');
  t.equal(table, 'function');
  t.equal(await loadModule(model), module, 'once');
  t.equal(await loadModule('other.ts', dir), await loadModule(join(dir, 'other.ts')), 'from a folder');
});

t.test('errors name file and line', async (t) => {
  const throws = file('throws.ts', "// a comment\nconst x: number = 3;\nthrow new Error('no luck ' + x);\n");
  await t.rejects(loadModule(throws), { code: 'ML_MODEL', message: /no luck 3 \(.*throws\.ts:3:\d+\)$/ });
  await t.rejects(loadModule(file('slip.ts', 'const = 3;')), { code: 'ML_MODEL', message: /slip\.ts/ });
  await t.rejects(loadModule(join(dir, 'nowhere.ts')), { code: 'ML_FILE_READ' });
});

t.test('it works in threads', async (t) => {
  const model = file('thread.ts', "import { f } from 'monolith-ts';\nexport const kind: string = f.id().kind;\n");
  const loader = fileURLToPath(new URL('../../src/base/load-module.js', import.meta.url));
  const text = `const { parentPort, workerData } = require('node:worker_threads');
import(workerData.loader)
  .then(({ loadModule }) => loadModule(workerData.model))
  .then(({ kind }) => parentPort.postMessage(kind));`;
  const worker = new Worker(text, { eval: true, workerData: { loader, model }, execArgv: [] });
  const kind = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  await worker.terminate();
  t.equal(kind, 'ids');
});
