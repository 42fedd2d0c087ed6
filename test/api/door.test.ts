/** @file What people import: few names at the top, namespaces, subpaths, one rule for the functions in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { rootFile, sourcesIn } from '../support/import-graph.js';
import { apiPage, ENTRIES, readApi, type Section } from './api-page.js';

const NAMESPACES = `checkpoints combiners data demo graphs hooks losses metrics nn ops optim queues schedules sparse
  summaries tables zoo`.split(/\s+/);

type Exports = Readonly<Record<string, unknown>>;
const isNamespace = (value: unknown): value is Exports => Object.prototype.toString.call(value) === '[object Module]';

/** Every module that can be imported or is a namespace of one, by how it is written. */
async function modules(): Promise<Map<string, Exports>> {
  const found = new Map<string, Exports>();
  for (const specifier of Object.keys(ENTRIES)) {
    const exports = (await import(specifier)) as Exports;
    found.set(specifier, exports);
    for (const [name, value] of Object.entries(exports))
      if (isNamespace(value)) found.set(`${specifier} ${name}`, value);
  }
  return found;
}

t.test('the top has at most 45 names, and the namespaces there are', async (t) => {
  const top = (await modules()).get('monolith-ts')!;
  t.ok(Object.keys(top).length <= 45, `${Object.keys(top).length} names`);
  t.same(
    Object.keys(top)
      .filter((name) => isNamespace(top[name]))
      .sort(),
    NAMESPACES,
  );
  for (const name of ['Graph', 'Session', 'defineSchema', 'defineModel', 'defineTable', 'evaluate', 'MonolithError']) {
    t.type(top[name], 'function', name);
  }
});

t.test('no two names of a module differ in case only', async (t) => {
  for (const [module, exports] of await modules()) {
    const names = Object.keys(exports).map((name) => name.toLowerCase());
    t.same(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
      module,
    );
  }
});

t.test('ops, losses, layers, optimizers and schedules are functions, and a name is an option of theirs', async (t) => {
  const top = (await modules()).get('monolith-ts')!;
  let count = 0;
  for (const namespace of ['ops', 'losses', 'nn', 'optim', 'sparse', 'schedules', 'combiners']) {
    for (const [name, value] of Object.entries(top[namespace] as Exports)) {
      if (/^[A-Z]/.test(name)) continue;
      t.type(value, 'function', `${namespace}.${name}`);
      const parameters = /\(([^)]*)\)/.exec(String(value))?.[1] ?? '';
      t.notMatch(parameters, /\bname\b/, `${namespace}.${name}(${parameters})`);
      count++;
    }
  }
  t.ok(count > 130, `${count} functions`);
});

/** Names that a namespace or an entry gives to what is called otherwise where it is defined. */
function namesGiven(): Map<string, string[]> {
  const given = new Map<string, string[]>();
  const files = [...sourcesIn('src/api'), ...sourcesIn('src/compat'), 'src/index.ts'];
  for (const file of files) {
    for (const [, own, name] of readFileSync(rootFile(file), 'utf8').matchAll(/(\w+) as (\w+)/g)) {
      given.set(name!, [...(given.get(name!) ?? []), own!]);
    }
  }
  return given;
}

t.test('every exported value is used by a test, a bench, an example or a program of a page', async (t) => {
  const page = (file: string) => !/^docs\/(api|errors|kernels|imports)\.md$/.test(file);
  const pages = ['README.md', ...readdirSync(rootFile('docs')).map((name) => `docs/${name}`)].filter(page);
  const programs = pages.flatMap((file) =>
    [...readFileSync(rootFile(file), 'utf8').matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, text]) => text!),
  );
  const sources = ['test', 'bench', 'examples'].flatMap((folder) =>
    readdirSync(rootFile(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mjs)$/.test(name))
      .map((name) => readFileSync(rootFile(join(folder, name)), 'utf8')),
  );
  const used = new Set([...sources, ...programs].flatMap((text) => text.match(/[A-Za-z_]\w*/g) ?? []));
  t.ok(used.size > 5000, 'programs were found');
  const given = namesGiven();
  const isUsed = (name: string) => [name, ...(given.get(name) ?? [])].some((one) => used.has(one));
  for (const [module, exports] of await modules()) {
    t.same(
      Object.keys(exports).filter((name) => !isNamespace(exports[name]) && !isUsed(name)),
      [],
      `${module}: test it, or export it no more`,
    );
  }
});

t.test('docs/api.md has every exported value with a sentence', async (t) => {
  const sections: readonly Section[] = readApi();
  const page = new URL('../../../docs/api.md', import.meta.url);
  t.equal(
    readFileSync(page, 'utf8'),
    apiPage(sections),
    'run `npm run docs:api` after a change of exports or comments',
  );
  const without = sections.flatMap(({ title, names }) =>
    names.filter(({ text }) => text === '').map(({ name }) => `${title} ${name}`),
  );
  t.same(without, []);
  for (const [module, exports] of await modules()) {
    const [title, namespace] = module.split(' ');
    const section = sections.find(
      (one) => one.title === title && one.namespace === namespace && one.same === undefined,
    );
    const values = Object.keys(exports).filter((name) => !isNamespace(exports[name]));
    const isElsewhere = sections.some((one) => one.title === title && one.namespace === namespace && one.same);
    if (isElsewhere) continue;
    t.same(section?.names.map(({ name }) => name).sort(), values.sort(), module);
  }
});
