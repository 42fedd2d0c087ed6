/** @file Who imports whom in src/: folders and rooms in order, no cycles. Types count as well. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import {
  cycles,
  type ImportGraph,
  importsOf,
  reachable,
  readImportGraph,
  rootFile,
  shortestCycle,
} from './support/import-graph.js';
import { importsPage } from './support/imports-page.js';
import { mayImport, ORDER, roomOf } from './support/rooms.js';

const graph = readImportGraph(['src']);
const files = [...graph.keys()];

/** Imports that break the order, as sentences. */
function offences(graph: ImportGraph): string[] {
  const found: string[] = [];
  for (const [file, targets] of graph) {
    const from = roomOf(file);
    if (from === null) {
      if (file.split('/').length > 2) found.push(`${file} is in no room`);
      continue;
    }
    for (const target of targets) {
      const to = roomOf(target);
      if (to === null || !mayImport(from, to)) found.push(`${file} imports ${target}`);
    }
  }
  return found;
}

t.test('a file of src/ imports only from its own room and the rooms before it', async (t) => {
  t.ok(files.length > 400, 'sources were found');
  t.same(offences(graph), []);
});

t.test('every room of the order is there', async (t) => {
  const used = new Set(files.map(roomOf));
  // Folders of design.md that do not exist yet are for parts that are not in this version.
  const coming = ['cluster', 'dashboard'];
  t.same(
    ORDER.flat().filter((room) => !used.has(room)),
    coming,
  );
});

t.test('no files import each other in a circle', async (t) => {
  t.same(
    cycles(graph).map((group) => shortestCycle(graph, group)),
    [],
  );
});

t.test('every file of src/ is reached by an entry of the package', async (t) => {
  const { exports, bin } = JSON.parse(readFileSync(rootFile('package.json'), 'utf8')) as {
    exports: Record<string, { default?: string }>;
    bin: Record<string, string>;
  };
  const built = [...Object.values(exports).map((entry) => entry.default ?? ''), ...Object.values(bin)];
  const entries = built.map((path) => path.replace(/^(\.\/)?build\//, '').replace(/\.js$/, '.ts'));
  const all = readImportGraph(['src', 'workers'], { started: true });
  const known = entries.filter((entry) => all.has(entry));
  t.ok(known.includes('src/index.ts') && known.includes('src/cli/main.ts'), 'entries were found');
  const reached = reachable(all, known);
  // Declarations of what the platform has are read by the compiler alone.
  const unreached = [...all.keys()].filter((file) => !reached.has(file) && !file.endsWith('.d.ts'));
  t.same(unreached, [], 'what only tests use is in test/');
});

t.test('docs/imports.md is made from the imports as they are', async (t) => {
  t.equal(readFileSync(rootFile('docs/imports.md'), 'utf8'), importsPage(graph), 'npm run docs:imports');
});

t.test('imports against the order and cycles are noticed', async (t) => {
  const bad = new Map([
    ['src/memory/x.ts', ['src/runtime/pool/y.ts', 'src/memory/z.ts']],
    ['src/memory/z.ts', ['src/base/files/a.ts', 'src/memory/x.ts']],
    ['src/runtime/pool/y.ts', ['src/memory/z.ts']],
    ['src/base/files/a.ts', []],
    ['src/attic/b.ts', []],
  ]);
  t.same(offences(bad), ['src/memory/x.ts imports src/runtime/pool/y.ts', 'src/attic/b.ts is in no room']);
  t.same(cycles(bad), [['src/memory/x.ts', 'src/memory/z.ts', 'src/runtime/pool/y.ts']]);
  t.same(shortestCycle(bad, cycles(bad)[0]!), ['src/memory/x.ts', 'src/memory/z.ts']);
});

t.test('every way to import is read', async (t) => {
  const text = `
    import type { A } from './a.js';
    import './b.js';
    export * as c from '../c.js';
    type D = import('./d.js').D;
    const e = await import('./e.js');
    const f = new Worker(new URL('../f.js', import.meta.url));
    import { readFileSync } from 'node:fs';
import t from 'tap';
  `;
  t.same(importsOf(text), { imported: ['./a.js', './b.js', '../c.js', './d.js', './e.js'], started: ['../f.js'] });
});
