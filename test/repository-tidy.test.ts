/**
 * @file What no linter holds sources to: lines of at most 120 columns, comments and pages too, files of at most 300
 * lines.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = fileURLToPath(new URL('../../', import.meta.url));
const COLUMNS_MAX = 120;
const LINES_MAX = 300;

const FOLDERS = ['.ci', '.github', 'assembly', 'bench', 'cuda', 'docs', 'examples', 'src', 'test', 'workers'];
/** What programs write, what one compiler made for another, and inputs of tests. */
const GENERATED = /^(assembly\/generated\/|assembly\/dense\/gemm-tiles\.ts|cuda\/addon\/build\/|test\/fixtures\/)/;

const SOURCES = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).replaceAll('\\', '/'))
    .filter((name) => /\.(ts|mjs|cu|cuh|cc|cpp|h|hpp|py|yml|gyp)$|^\.ci\/run$/.test(name) && !GENERATED.test(name))
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').trimEnd().split('\n') })),
);

/** Pages that people write. */
const PAGES = ['.', 'docs', 'bench', 'cuda', 'examples'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md') && !/^(api|config|errors|imports|kernels)\.md$/.test(name))
    .map((name) => join(folder, name).replaceAll('\\', '/')),
);

t.test('the sources were found', async (t) => {
  for (const folder of FOLDERS) t.ok(SOURCES.filter(({ file }) => file.startsWith(`${folder}/`)).length > 2, folder);
});

t.test('no line has more than 120 columns', async (t) => {
  const isWide = (line: string) => [...line].length > COLUMNS_MAX;
  t.same(
    SOURCES.flatMap(({ file, lines }) =>
      lines.flatMap((line, index) => (isWide(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    ),
    [],
  );
});

t.test('no line of prose has more than 120 columns', async (t) => {
  const wide = PAGES.flatMap((file) => {
    let isCode = false;
    return readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        if (/^\s*```/.test(line)) isCode = !isCode;
        // Tables cannot be wrapped, and what has no space to wrap at is one word.
        const isFree = isCode || /^\s*(\||#|\[[^\]]+\]:)/.test(line) || !/\S \S/.test(line.slice(0, COLUMNS_MAX));
        return !isFree && [...line].length > COLUMNS_MAX ? [`${file}:${index + 1}: ${line.trim()}`] : [];
      });
  });
  t.ok(PAGES.length > 20);
  t.same(wide, []);
});

t.test('no file has more than 300 lines', async (t) => {
  const long = SOURCES.filter(({ lines }) => lines.length > LINES_MAX);
  t.same(
    long.map(({ file, lines }) => `${file}: ${lines.length} lines`),
    [],
    'give what it does besides a file of its own',
  );
});
