/** @file The bundle: every source is in it once, is found by its path, and is what it was by itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { rootFile, sourcesIn } from '../support/import-graph.js';

interface Imports {
  readonly now: readonly string[];
  readonly later: readonly string[];
  readonly exportsAny: boolean;
}
type ChunkNames = (imports: ReadonlyMap<string, Imports>, programs: readonly string[]) => ReadonlyMap<string, string>;

const { chunkNames } = (await import(pathToFileURL(rootFile('.ci/chunk-names.mjs')).href)) as {
  readonly chunkNames: ChunkNames;
};

/** Sources of the example, each with what it imports, `later` after a bar; `!` for those that export nothing. */
const graphOf = (text: string) =>
  new Map(
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [source, now = '', later = ''] = line.trim().split(/:|\|/);
        const list = (names: string) => names.split(' ').filter((name) => name !== '');
        return [source!.replace('!', ''), { now: list(now), later: list(later), exportsAny: !source!.endsWith('!') }];
      }),
  );

t.test('sources that the same programs load share a chunk, named after where most of them are', async (t) => {
  const graph = graphOf(`
    src/index.ts: src/base/a.ts src/base/b.ts src/graph/g.ts src/act.ts
    src/tool.ts: src/base/a.ts src/base/b.ts
    src/base/a.ts: src/base/b.ts src/memory/m.ts
    src/base/b.ts:
    src/memory/m.ts:
    src/graph/g.ts:| src/graph/late.ts
    src/graph/late.ts: src/base/a.ts src/io/x.ts src/io/y.ts
    src/io/x.ts:
    src/io/y.ts:
    src/alone.ts: src/memory/m.ts
    src/act.ts!: src/memory/m.ts`);
  t.same(Object.fromEntries(chunkNames(graph, ['src/index.ts', 'src/tool.ts'])), {
    'src/base/a.ts': 'base',
    'src/base/b.ts': 'base',
    'src/memory/m.ts': 'base',
    'src/graph/g.ts': 'graph.g',
    'src/graph/late.ts': 'io',
    'src/io/x.ts': 'io',
    'src/io/y.ts': 'io',
  });
});

t.test('chunks of one place have different names', async (t) => {
  const graph = graphOf(`
    src/index.ts: src/base/a.ts src/base/b.ts
    src/tool.ts: src/base/b.ts src/base/c.ts
    src/other.ts: src/base/c.ts src/base/d.ts
    src/base/a.ts: src/base/x/a.ts
    src/base/b.ts: src/base/x/b.ts
    src/base/c.ts:
    src/base/d.ts:
    src/base/x/a.ts:
    src/base/x/b.ts:`);
  const names = chunkNames(graph, ['src/index.ts', 'src/tool.ts', 'src/other.ts']);
  t.equal(names.get('src/base/a.ts'), 'base');
  t.equal(names.get('src/base/b.ts'), 'base-2');
  t.equal(names.get('src/base/x/b.ts'), 'base-2');
  t.equal(names.get('src/base/c.ts'), 'base.c');
});

t.test('every source is in the bundle once', async (t) => {
  const files = ['src', 'workers', 'chunks'].flatMap((folder) =>
    (readdirSync(rootFile(`build/${folder}`), { recursive: true }) as string[]).map((name) =>
      posix.join('build', folder, name.replaceAll('\\', '/')),
    ),
  );
  const counts = new Map<string, number>();
  for (const file of files.filter((name) => name.endsWith('.js.map'))) {
    const text = readFileSync(rootFile(file.replace(/\.map$/, '')), 'utf8');
    t.match(text, `\n//# sourceMappingURL=${posix.basename(file)}\n`, `${file} is named`);
    const { sources } = JSON.parse(readFileSync(rootFile(file), 'utf8')) as { readonly sources: readonly string[] };
    for (const source of sources.map((path) => posix.join(posix.dirname(file), path)))
      counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  t.same(
    [...counts].filter(([, count]) => count > 1),
    [],
  );
  const compiled = ['src', 'workers'].flatMap(sourcesIn).filter((file) => !file.endsWith('.d.ts'));
  const built = new Set(files);
  t.same(
    compiled.filter((file) => !built.has(`build/${file.replace(/\.ts$/, '.js')}`)),
    [],
    'each has a file of its path',
  );
  t.ok(
    [...counts.keys()].every((source) => compiled.includes(source)),
    'maps lead to sources',
  );
});

t.test('a thing is the same by its path, by an entry and by another', async (t) => {
  const top = await import('monolith-ts');
  const { MonolithError } = await import('../../src/base/errors.js');
  const { Graph } = await import('../../src/graph/graph.js');
  const tables = await import('monolith-ts/tables');
  const { MultiHashTable } = await import('../../src/sparse/many/multi-hash-table.js');
  t.equal(top.MonolithError, MonolithError);
  t.equal(top.Graph, Graph);
  t.equal(tables.MultiHashTable, MultiHashTable);
});

t.test('classes and functions keep their names', async (t) => {
  let count = 0;
  for (const entry of ['', '/tables', '/cuda', '/trace', '/serve', '/compat']) {
    for (const [name, value] of Object.entries(await import(`monolith-ts${entry}`))) {
      if (typeof value !== 'function') continue;
      t.notMatch(value.name, /\$\d*$/, name);
      count++;
    }
  }
  t.ok(count > 100, `${count} of them`);
});
