/**
 * @file The declarations hold in a user's project: without the DOM's library, with every file of them checked, and
 * however the project finds modules; programs that use them rightly compile, and mistakes do not.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { SCHEMA_SNIPPETS } from './snippets/schemas.js';
import { SESSION_SNIPPETS } from './snippets/sessions.js';
import { checkSnippets, snippetFiles } from './support/check-snippets.js';
import { compile } from './support/compile.js';

const SNIPPETS = { schemas: SCHEMA_SNIPPETS, sessions: SESSION_SNIPPETS };
const EVERY_ENTRY = `import * as ml from 'monolith-ts';
import { TableMemory } from 'monolith-ts/tables';
import { CudaDriver } from 'monolith-ts/cuda';
import { summarizeTrace } from 'monolith-ts/trace';
import { loadModel } from 'monolith-ts/serve';
import * as compat from 'monolith-ts/compat';
// @ts-expect-error: the compiler does look
export const nothing = ml.nothing;
export const names = [ml.Session, TableMemory, CudaDriver, summarizeTrace, loadModel, compat];
`;

/** A CommonJS project imports when it runs: what it gets has the same types. */
const COMMON_JS = `export async function names(): Promise<unknown[]> {
  const ml = await import('monolith-ts');
  const { TableMemory } = await import('monolith-ts/tables');
  // @ts-expect-error: the compiler does look
  return [ml.Session, TableMemory, ml.nothing];
}
`;

/** The program of the README is TypeScript too. */
function readmeFiles(): Record<string, string> {
  const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
  const [, right] = /^```js\n([\s\S]*?)^```/m.exec(readme)!;
  return {
    'readme.mts': right!,
    'readme-misspelt.mts': right!.replace('({ user, item }, m)', '({ usr: user, item }, m)'),
  };
}

t.test('in a project of Node that asks for no types', async (t) => {
  const snippets = Object.entries(SNIPPETS).map(([subject, list]) => snippetFiles(subject, list));
  const files = Object.assign(
    { 'project.ts': EVERY_ENTRY, 'common.cts': COMMON_JS, ...readmeFiles() },
    ...snippets,
  ) as Record<string, string>;
  const options = { module: 'NodeNext', types: [], exactOptionalPropertyTypes: true, lib: ['ES2022'] };
  const problems = await compile({ folder: t.testdir(), files, options });
  for (const [subject, list] of Object.entries(SNIPPETS)) checkSnippets(t, subject, list, problems);
  const others = problems.filter(({ file }) => !/^(schemas|sessions)-\d+\.ts$/.test(file));
  t.same(
    others.map(({ file, code }) => ({ file, code })),
    [{ file: 'readme-misspelt.mts', code: 2339 }],
    'nothing else but a misspelt feature in the program of the README',
    { others },
  );
});

for (const [name, options] of Object.entries({
  'in one of a bundler, with the types of Node': { types: ['node'] },
  'in one of a bundler, with the DOM': { types: ['node'], lib: ['ES2022', 'DOM'] },
})) {
  t.test(name, async (t) => {
    const bundler = { module: 'ESNext', moduleResolution: 'Bundler', ...options };
    t.same(await compile({ folder: t.testdir(), files: { 'project.ts': EVERY_ENTRY }, options: bundler }), []);
  });
}
