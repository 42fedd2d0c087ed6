/** @file Holds what docs/parity.md calls missing to what is there: a page that leaves out what is here is not true. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import * as compat from '../src/compat/index.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** Names in sentences that say something is not here: `[row, name]`. */
const missing = textOf('docs/parity.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .flatMap((row) => {
    const sentences = row.split(/[.;](?=\s)|\|/);
    const said = sentences.filter((one) => /\b(?:missing|not covered|no counterpart|not here)\b/i.test(one));
    const of = row.split('|')[1]!.trim();
    return said.flatMap((one) => [...one.matchAll(/`(\w+)`/g)].map(([, name]) => [of, name!] as const));
  });

t.test('what is called missing is not exported', async (t) => {
  t.ok(missing.length > 5, 'names were found');
  const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  t.same(
    missing.filter(([, name]) => camel(name) in compat),
    [],
  );
});

t.test('cases that are called missing are no golden ones', async (t) => {
  const golden = ['io', 'sparse'].flatMap((part) => {
    const cases: { source_test: string }[] = JSON.parse(textOf(`test/fixtures/parity-${part}.json`));
    return cases.map((one) => one.source_test);
  });
  const isGolden = (of: string, name: string) =>
    golden.some((source) => source.includes(`/${of}.py`) && source.endsWith(name));
  t.same(
    missing.filter(([of, name]) => isGolden(of, name)),
    [],
  );
});
