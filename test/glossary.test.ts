/** @file docs/glossary.md: terms defined once, and words that mean in each file what the page says. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const page = read('docs/glossary.md');

/** Pages that are made from sources, whose words are checked there. */
const GENERATED = /^(docs\/(api|errors|imports|kernels)\.md|assembly\/generated\/)/;

const FILES = ['src', 'workers', 'assembly', 'cuda/kernels', 'docs']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((file) => /\.(ts|cu|cuh|md)$/.test(file) && !GENERATED.test(file) && file !== 'docs/glossary.md')
  .concat('README.md')
  .sort();

/** The rows of the table at the end of the page. */
const PLACES = page
  .slice(page.indexOf('## Words by place'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| word') && !line.startsWith('| ---'))
  .map((line) => {
    const [word, term, files] = line.split('|').slice(1, -1);
    return {
      word: word!.trim(),
      term: term!.trim(),
      files: [...files!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
    };
  });

const TERMS = [...page.matchAll(/\*\*([^*]+)\*\*:? ?/g)].map(([, term]) => term!.toLowerCase());

/** Text without what says itself which term it is: longer terms, names of files and modules, methods of arrays. */
function bare(text: string, word: string): string {
  const first = PLACES.filter((place) => place.word === word && place.term !== word).map(
    ({ term }) => term.split(' ')[0]!,
  );
  const longer = new RegExp(`\\b(${first.join('|')})[ _-]?${word}s?`, 'gi');
  const kept = text
    .replace(/\.slice\(|\b[sS]liceInner\b|(gather|scatter|reduce)Slices?(Grad)?F32/g, '(')
    .replace(/(from|import) '[^']*'/g, '')
    .replace(/from "[^"]*"/g, '')
    .replace(/`[\w./-]+\.(ts|js|mjs|cu|cuh)`/g, '');
  return first.length === 0 ? kept : kept.replace(longer, '');
}

/** The word by itself or as a part of a name: `slot`, `slotOf`, `freeSlots`, `SLOT_BYTES`. */
function uses(text: string, word: string): boolean {
  const capital = word[0]!.toUpperCase() + word.slice(1);
  return new RegExp(
    `(?<![A-Za-z])(${word}|${capital})s?(?![a-z])|[a-z]${capital}s?(?![a-z])|` +
      `(?<![A-Z])${word.toUpperCase()}S?(?![A-Z])`,
  ).test(bare(text, word));
}

const covers = (prefix: string, file: string) => file === prefix || file.startsWith(`${prefix}/`);

function placeOf(word: string, file: string): { term: string; prefix: string } | undefined {
  const found = PLACES.filter((place) => place.word === word).flatMap(({ term, files }) =>
    files.filter((prefix) => covers(prefix, file)).map((prefix) => ({ term, prefix })),
  );
  return found.sort((a, b) => b.prefix.length - a.prefix.length)[0];
}

t.test('every term is defined once', async (t) => {
  t.same(
    TERMS.filter((term, index) => TERMS.indexOf(term) !== index),
    [],
  );
  for (const { term } of PLACES) t.ok(TERMS.includes(term), `${term} is a term of the page`);
  for (const [, term] of page.matchAll(/^- \*\*([^*]+)\*\*(?!:)/gm)) t.fail(`${term} has no definition`);
});

for (const word of new Set(PLACES.map((place) => place.word))) {
  t.test(`"${word}" is used where the glossary says which term it is`, async (t) => {
    const users = FILES.filter((file) => uses(read(file), word));
    t.ok(users.length > 0);
    const strangers = users.filter((file) => placeOf(word, file) === undefined);
    t.same(strangers, [], `the word stands alone in no other file: write the longer term, or another word`);
    const prefixes = PLACES.filter((place) => place.word === word).flatMap(({ files }) => files);
    t.same(new Set(prefixes).size, prefixes.length, 'no place has two terms');
    const idle = prefixes.filter((prefix) => !users.some((file) => placeOf(word, file)?.prefix === prefix));
    t.same(idle, [], 'every place of the table has a use of the word');
  });
}

/** What is written otherwise. */
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\blayers? (above|below|beneath|under)\b/i, 'rooms, or folders'],
  [/\b(interface|type|class) Plan\b/, 'the plan of something: SlicePlan'],
  [/\bstag(ed|ing)\b/i, 'pending, packed, pinned or copied'],
  [/\bPlanOp\b/, 'entry of a plan'],
];

t.test('words that mean something else here are not used', async (t) => {
  const found = FILES.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) =>
        FORBIDDEN.filter(([pattern]) => pattern.test(line)).map(([, use]) => `${file}:${index + 1}: ${use}: ${line}`),
      ),
  );
  t.same(found, []);
});

/** Other ways to say what happens when nothing is given. */
const OTHER_DEFAULTS = [
  /\bdefaults to\b/i,
  / \(default\b/i,
  /\bby default\b/i,
  /, the default\b/,
  /\bunless (told|given)\b(?! apart| to )/,
  /\bDefault (is\b|\d)/,
  /\bif (not given|omitted)\b/i,
];

t.test('defaults are written as "Default: x."', async (t) => {
  const lines = FILES.flatMap((file) =>
    read(file)
      .split('\n')
      .map((line, index) => ({ line, place: `${file}:${index + 1}` })),
  );
  const others = lines.filter(({ line }) => OTHER_DEFAULTS.some((pattern) => pattern.test(line)));
  t.same(
    others.map(({ line, place }) => `${place}: ${line.trim()}`),
    [],
  );
  const ours = lines.filter(({ line }) => /\bDefault: /.test(line));
  t.ok(ours.length > 100, `${ours.length} defaults are written down`);
});
