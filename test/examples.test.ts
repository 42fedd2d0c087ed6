import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runNode } from './run-node.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

const TRAINED = /^step 10: loss 0\.\d+\n[\s\S]*held out: AUC [01]\.\d+, loss 0\.\d+/;
/** What those print that are no models, or have more to say. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  // Features of equal slots whose ids are told apart: a row for each.
  'own-model.mjs':
    /^step 10: loss 0\.\d+\n[\s\S]*held out: AUC [01]\.\d+, loss 0\.\d+\n600 rows for 500 users and 100 items/,
  'table.mjs':
    /^step 10: loss 0\.\d+, \d+ rows\n[\s\S]*saved (\d+) rows,.*\nrestored \1 rows; item 1000000007: p 0\.881, seen 5\nid 7 [\s\S]*adagrad/,
};

t.test('every example trains, says how it went, and leaves nothing behind', async (t) => {
  const cwd = t.testdir();
  const names = readdirSync(EXAMPLES).filter((name) => name.endsWith('.mjs'));
  t.ok(names.length >= 3, 'examples were found');
  for (const name of names) {
    const ended = await runNode([join(EXAMPLES, name), '40'], { cwd });
    t.match(ended, { code: 0, out: PRINTED[name] ?? TRAINED, err: '' }, name);
  }
  t.same(readdirSync(cwd), []);
});
