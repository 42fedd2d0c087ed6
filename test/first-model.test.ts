/** @file The programs of docs/first-model.md compile as they stand, run, and learn what the page says they learn. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';
import { runNode } from './run-node.js';
import { compile } from './support/compile.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/first-model.md'), 'utf8');

/** The files of the page by name: their first line says it. They are modules whatever project they are in. */
const FILES = Object.fromEntries(
  [...page.matchAll(/^```ts\n\/\/ (\w+)\.ts\n([\s\S]*?)^```/gm)].map(([, name, text]) => [
    `${name}.mts`,
    text!.replace(/'\.\/(\w+)\.js'/g, "'./$1.mjs'"),
  ]),
);

t.test('they compile, and a misspelt feature does not', async (t) => {
  t.same(Object.keys(FILES), ['model.mts', 'train.mts']);
  const slip = FILES['model.mts']!.replace('({ user, film', '({ usr: user, film');
  const options = { module: 'NodeNext', types: [], lib: ['ES2022'] };
  const problems = await compile({ folder: t.testdir(), files: { ...FILES, 'slip.mts': slip }, options });
  t.ok(problems.length > 0);
  t.same(
    problems.filter(({ file }) => file !== 'slip.mts'),
    [],
  );
});

t.test('they run: a model that knows who likes what', async (t) => {
  // Inside the package, where its own name resolves; what a program writes goes to a folder of the test.
  const home = join(root, 'build', `first-model-${process.pid}`);
  mkdirSync(home);
  t.teardown(() => rmSync(home, { recursive: true }));
  const module = ts.ModuleKind.ESNext;
  for (const [name, text] of Object.entries(FILES)) {
    const { outputText } = ts.transpileModule(text, { compilerOptions: { module, target: ts.ScriptTarget.ES2022 } });
    writeFileSync(join(home, name.replace('.mts', '.mjs')), outputText);
  }
  const { code, out, err } = await runNode([join(home, 'train.mjs')], { cwd: t.testdir() });
  t.same({ code, err }, { code: 0, err: '' });
  const [, auc, probability] = /AUC (\S+) on ratings[\s\S]*film 10 with a probability of (\S+)/.exec(out) ?? [];
  // One rating in ten is noise: nobody gets much above 0.9.
  t.ok(Number(auc) > 0.8, out);
  t.ok(Number(probability) > 0 && Number(probability) < 1, out);
});
