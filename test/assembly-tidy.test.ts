/** @file What no linter knows of the kernels' sources: width, quotes, one style of @inline, no bare byte offset. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = fileURLToPath(new URL('../../', import.meta.url));

function sourcesBelow(folder: string): { file: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs)$/.test(name))
    .map((name) => ({ file: `${folder}/${name}`, text: readFileSync(join(root, folder, name), 'utf8') }));
}

const KERNELS = sourcesBelow('assembly').filter(({ file }) => file.endsWith('.ts'));
const withoutComments = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (comment) => comment.replace(/[^\n]/g, ' '));

/** Lines of the kernels' sources that `isWrong`, with their places. */
function linesThat(isWrong: (line: string) => boolean, of = KERNELS): string[] {
  return of.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, index) => (isWrong(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
}

/** Arguments of the call whose parenthesis opens at `open`. */
function argumentsAt(text: string, open: number): string[] {
  const list: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let at = open + 1; at < text.length; at++) {
    const char = text[at]!;
    if (depth === 0 && (char === ',' || char === ')')) {
      list.push(text.slice(start, at).trim());
      if (char === ')') return list;
      start = at + 1;
    }
    if (char === '(') depth++;
    if (char === ')') depth--;
  }
  return list;
}

/** Which argument of a load or store is its offset. */
function offsetIndex(name: string): number {
  if (name.endsWith('_lane') || name === 'atomic.cmpxchg') return 3;
  return /(^|\.)load/.test(name) ? 1 : 2;
}

const ACCESS =
  /(?<![.\w])(?:v128\.(?:load|store)\w*|atomic\.(?:load|store|add|sub|and|or|xor|xchg|cmpxchg)|load|store)/g;

/** Loads and stores whose offset is a number alone. */
function bareOffsets(text: string): string[] {
  const code = withoutComments(text);
  return [...code.matchAll(ACCESS)].flatMap((match) => {
    const head = /^(?:<[^()<>]*>)?\(/.exec(code.slice(match.index + match[0].length));
    if (head === null) return [];
    const given = argumentsAt(code, match.index + match[0].length + head[0].length - 1);
    const offset = given[offsetIndex(match[0])];
    return offset !== undefined && /^\d+$/.test(offset) ? [`${match[0]}(${given.join(', ')})`] : [];
  });
}

t.test('the sources of kernels were found', async (t) => {
  t.ok(KERNELS.length > 80, `${KERNELS.length} files`);
});

t.test('no line of a kernel is wider than 120 columns', async (t) => {
  t.same(
    linesThat((line) => [...line].length > 120),
    [],
  );
});

t.test('strings of kernels are in double quotes', async (t) => {
  const code = KERNELS.map(({ file, text }) => ({ file, text: withoutComments(text) }));
  t.same(
    linesThat((line) => /['`]/.test(line), code),
    [],
  );
});

t.test('@inline stands on a line of its own before a function, and no line asks a checker to look away', async (t) => {
  t.same(
    linesThat((line) => /@inline\s+(?!export const)\S/.test(line) || line.includes('@ts-ignore')),
    [],
  );
});

t.test('no load or store has a bare byte offset', async (t) => {
  t.same(
    KERNELS.flatMap(({ file, text }) => bareOffsets(text).map((call) => `${file}: ${call}`)),
    [],
    'name it in src/memory, or count in units of assembly/units.ts',
  );
});

t.test('bare offsets are found where they are', async (t) => {
  const found = [
    'store<u32>(p, load<u32>(q, 4) + 1, W);',
    'v128.store(p, x, 16);',
    'atomic.cmpxchg<u32>(p, 0, h, 8);',
    'v128.load_lane<u32>(p, v, 3, 15);',
  ];
  const fine = ['store<u32>(p, 0);', 'load<u32>(p, 2 * WORD);', 'v128.load(p, V1);', 'v128.store_lane<u64>(p, v, 1);'];
  for (const line of found) t.equal(bareOffsets(line).length, 1, line);
  for (const line of fine) t.same(bareOffsets(line), [], line);
});

t.test('no kernel defines a name of the generated layouts again', async (t) => {
  const layouts = KERNELS.find(({ file }) => file === 'assembly/generated/layouts.ts')!.text;
  const names = new Set(
    [...layouts.matchAll(/^(?:@inline )?export (?:const|namespace) (\w+)/gm)].map(([, name]) => name),
  );
  t.ok(names.size > 60, `${names.size} names`);
  const again = KERNELS.filter(({ file }) => !file.startsWith('assembly/generated/')).flatMap(({ file, text }) =>
    [...text.matchAll(/^(?:export )?const (\w+)/gm)]
      .filter(([, name]) => names.has(name))
      .map(([line]) => `${file}: ${line}`),
  );
  t.same(again, []);
});

t.test('no source points to a numbered section', async (t) => {
  const all = ['assembly', 'src', 'workers'].flatMap(sourcesBelow);
  t.same(
    linesThat((line) => line.includes('\u00a7'), all),
    [],
  );
});
