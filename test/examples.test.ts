import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runNode } from './run-node.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

const TRAINED = /^step 10: loss 0\.\d+\n[\s\S]*held out: AUC [01]\.\d+, loss 0\.\d+/;
/** What those print that are no models, or have more to say. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  // Features have tables of their own: a row for each id.
  'own-model.mjs':
    /^step 10: loss 0\.\d+\n[\s\S]*held out: AUC [01]\.\d+, loss 0\.\d+\n500 and 100 rows for 500 users and 100 items/,
  'ffm-task.mjs': /^step 40: loss 0\.\d+, saved to .*model\.ckpt-40/,
  'table.mjs':
    /^step 10: loss 0\.\d+, \d+ rows\n.*saved (\d+) rows,[^\n]*\nrestored \1 rows; item 1000000007: p 0\.881.*adagrad/s,
};

/** Programs whose argument is thousands of rows: how many here, and what is to come of them at the least. */
const EXPECTED: Readonly<Record<string, readonly [thousands: string, number: RegExp, least: number]>> = {
  'movielens.mjs': [
    '20',
    /^held out: AUC (\S+), loss \S+; the best that can be: 0\.8\d+\nfor u42: (?:\d+ [^ ]+ ?){5}$/m,
    0.7,
  ],
  'criteo.mjs': ['10', /^held out: AUC (\S+), .*\n[\d,]+ rows\/s of 39 features$/m, 0.7],
  'census.mjs': ['10', /^held out: AUC (\S+), /m, 0.86],
  'sequence.mjs': ['20', /^without the history: AUC 0\.[45]\d+\nheld out: AUC (\S+), /m, 0.6],
  'freshness.mjs': ['16', /^the fresher, the better: yes; (\S+) of AUC between them$/m, 0.05],
  'two-towers.mjs': ['10', /^recall at 20 of 300 items: (\S+); by chance 0\.07$/m, 0.25],
};

t.test('examples with made-up data come to what they are expected to', async (t) => {
  const cwd = t.testdir();
  for (const [name, [thousands, number, least]] of Object.entries(EXPECTED)) {
    const { code, out, err } = await runNode([join(EXAMPLES, name), thousands], { cwd });
    t.match({ code, err }, { code: 0, err: '' }, name);
    const found = Number(number.exec(out)?.[1]);
    t.ok(found > least, `${name}: ${found}, at least ${least}`);
  }
  t.same(readdirSync(cwd), []);
});

t.test('the example of freshness plots its table in a report', async (t) => {
  const cwd = t.testdir();
  const { code, out } = await runNode([join(EXAMPLES, 'freshness.mjs'), '16', '1', 'drift'], { cwd });
  t.match({ code, out }, { code: 0, out: /^plotted in drift\/report\.html$/m });
  const page = readFileSync(join(cwd, 'drift', 'report.html'), 'utf8');
  const mean = /^ +32 +\S+ +(\S+)$/m.exec(out)?.[1];
  t.ok(page.includes(`<td class="num">${mean}</td>`), 'the numbers are those that were printed');
});

t.test('every example trains, says how it went, and leaves nothing behind', async (t) => {
  const cwd = t.testdir();
  const names = readdirSync(EXAMPLES).filter((name) => name.endsWith('.mjs'));
  t.ok(names.length >= 3, 'examples were found');
  for (const name of names.filter((one) => !Object.hasOwn(EXPECTED, one))) {
    const ended = await runNode([join(EXAMPLES, name), '40'], { cwd });
    t.match(ended, { code: 0, out: PRINTED[name] ?? TRAINED, err: '' }, name);
  }
  t.same(readdirSync(cwd), []);
});
