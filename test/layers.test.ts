import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

/** Order of the folders of src/: each imports only from those before it. Folders of one entry are on a level. */
const LAYERS = [
  ['base'],
  ['memory'],
  ['trace'],
  ['io'],
  ['tensor'],
  ['graph'],
  ['runtime'],
  ['sparse'],
  ['optim'],
  ['feature'],
  ['layers'],
  ['queue'],
  ['data'],
  ['checkpoint'],
  ['train'],
  ['summary', 'metrics'],
  ['cluster'],
  ['serve'],
  ['cli', 'dashboard'],
] as const;
const rank = new Map(LAYERS.flatMap((names, index) => names.map((name) => [name as string, index] as const)));
const root = fileURLToPath(new URL('../../src/', import.meta.url));

function sources(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return sources(path);
    return path.endsWith('.ts') && !path.endsWith('.d.ts') ? [path] : [];
  });
}

/** Imports of `file` that break the order, as sentences. */
function offences(file: string, text: string): string[] {
  const from = relative(root, file).split(sep)[0]!;
  if (from.endsWith('.ts')) return []; // src/index.ts, the public surface, sees everything
  if (!rank.has(from)) return [`${from} is not a known folder of src/`];
  const found: string[] = [];
  for (const match of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const to = relative(root, join(file, '..', match[1]!)).split(sep)[0]!;
    if (to === '..') continue;
    const allowed = to === from || (rank.get(to) ?? Number.POSITIVE_INFINITY) < rank.get(from)!;
    if (!allowed) found.push(`${relative(root, file)} imports ${match[1]}`);
  }
  return found;
}

t.test('a folder of src/ imports only from the folders before it', async (t) => {
  const files = sources(root);
  t.ok(files.length > 5, 'sources were found');
  t.same(
    files.flatMap((file) => offences(file, readFileSync(file, 'utf8'))),
    [],
  );
});

t.test('an import against the order is noticed', async (t) => {
  t.same(offences(join(root, 'memory', 'x.ts'), "import { y } from '../runtime/y.js';"), [
    `memory${sep}x.ts imports ../runtime/y.js`,
  ]);
  t.same(offences(join(root, 'runtime', 'a', 'x.ts'), "import { y } from '../../memory/y.js';"), []);
});
