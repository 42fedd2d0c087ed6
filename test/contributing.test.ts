/** @file CONTRIBUTING.md against the sources: the files that its example names are those that a new op touches. */
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { ops } from '../src/index.js';
import { UNARY_KIND } from '../src/memory/kinds.js';
import { ROW_BUILDERS } from './oracle64/builders-rows.js';

// Tests run from build/test/.
const ROOT = new URL('../../', import.meta.url);
const page = readFileSync(new URL('CONTRIBUTING.md', ROOT), 'utf8');

/** Files of a folder that people write. */
function sourcesIn(folder: string): string[] {
  return (readdirSync(new URL(folder, ROOT), { recursive: true }) as string[])
    .map((file) => folder + file.replaceAll('\\', '/'))
    .filter((file) => /\.(ts|mjs|cu|cuh)$/.test(file) && !/\/generated\/|layouts\.cuh$/.test(file));
}

/** A file without comments. */
function codeOf(file: string): string {
  return readFileSync(new URL(file, ROOT), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

t.test('an elementwise op of one operand touches the files that are named, at most five', async (t) => {
  const section = /<!-- files of log1p -->([\s\S]*?)<!-- end -->/.exec(page)![1]!;
  const named = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, file]) => file!);
  const all = ['src/', 'assembly/', 'cuda/kernels/', 'workers/'].flatMap(sourcesIn);
  // Not the function of JavaScript, and not log1pf and log1p4, unless the kind is chosen there.
  const touched = all.filter((file) => /(?<!Math\.)\blog1p\b/.test(codeOf(file)));
  t.same([...named].sort(), touched.sort());
  t.ok(named.length <= 5, `${named.length} files`);
});

t.test('every function of one operand is in `ops` and in the random graphs of the oracle', async (t) => {
  for (const kind of Object.keys(UNARY_KIND)) {
    t.type((ops as Record<string, unknown>)[kind], 'function', `ops.${kind}`);
    t.type(ROW_BUILDERS[kind], 'function', `a builder of ${kind}`);
  }
});

t.test('files and links that the page names are there', async (t) => {
  const links = [...page.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link]) => link!);
  const files = [...page.matchAll(/`((?:src|test|assembly|cuda|docs)\/[\w./-]+\.\w+)`/g)].map(([, file]) => file!);
  t.ok(links.length > 5 && files.length > 10);
  for (const file of [...links, ...files]) t.doesNotThrow(() => readFileSync(new URL(file, ROOT)), file);
});
