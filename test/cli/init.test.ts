import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { madeTable } from './learn/made-table.js';
import { runHere } from './run-here.js';

const { ratings, items } = madeTable(1500);
const cwd = t.testdir({ 'ratings.csv': ratings, 'items.csv': items, full: { 'a.txt': '' } });
const run = (...args: string[]) => runHere(args, { cwd });
const BASE = ['--data', 'ratings.csv', '--label', 'rating>=4'];

t.test('a project trains and tests itself as its scripts say', async (t) => {
  const made = await run('init', 'recs', ...BASE, '--with', 'items.csv:itemId', '--json');
  t.equal(made.code, 0, made.err);
  const { files } = JSON.parse(made.out) as { files: string[] };
  for (const file of [...files, 'data/ratings.csv', 'data/items.csv']) t.ok(existsSync(join(cwd, 'recs', file)), file);
  const { scripts, type } = JSON.parse(readFileSync(join(cwd, 'recs/package.json'), 'utf8'));
  t.match(
    { scripts, type },
    { type: 'module', scripts: { train: 'monolith-ts train', test: 'monolith-ts train --smoke' } },
  );
  // As npm install would.
  mkdirSync(join(cwd, 'recs/node_modules'));
  symlinkSync(fileURLToPath(new URL('../../../', import.meta.url)), join(cwd, 'recs/node_modules/monolith-ts'));
  const project = { cwd: join(cwd, 'recs') };
  const smoke = await runHere(['train', '--smoke', '--threads', '2'], project);
  t.match(smoke, { code: 0, out: /smoke test passed/ }, smoke.err);
  const trained = await runHere(['train', '--threads', '2', '--epochs', '1', '--quiet', '--json'], project);
  t.equal(trained.code, 0, trained.err);
  t.match(JSON.parse(trained.out), { event: 'done', auc: Number, model_dir: 'runs/model' });
});

t.test('without data clicks are made up', async (t) => {
  t.equal((await run('init', 'clicks')).code, 0);
  t.match(readFileSync(join(cwd, 'clicks/src/model.ts'), 'utf8'), /click: f\.label/);
  t.equal(readFileSync(join(cwd, 'clicks/data/clicks.csv'), 'utf8').split('\n').length, 50_002);
});

t.test('what cannot be made is refused, and nothing is written', async (t) => {
  const cases: [string[], number, RegExp][] = [
    [['full', ...BASE], 1, /ML_ALREADY_EXISTS: .*init overwrites nothing/],
    [['new', '--data', 'ratings.csv'], 2, /needs the label of --data/],
    [['new', '--data', 'rating.csv', '--label', 'rating'], 1, /hint: did you mean ratings\.csv\?/],
    [['new', '--data', 'ratings.csv', '--label', 'ratin'], 1, /hint: did you mean --label rating\?/],
  ];
  for (const [args, code, wanted] of cases) t.match(await run('init', ...args), { code, err: wanted }, args.join(' '));
  t.notOk(existsSync(join(cwd, 'new')));
});

t.test('data generate makes up clicks and says what the best can be', async (t) => {
  const { code, out, err } = await run('data', 'generate', 'clicks', '--rows', '2k', '--out', 'c.parquet', '--json');
  t.equal(code, 0, err);
  const { ceiling, ...told } = JSON.parse(out);
  t.match(told, { event: 'generated', rows: 2000, out: 'c.parquet' });
  t.ok(ceiling > 0.6 && ceiling < 1, `${ceiling}`);
  const [first, second] = [
    await run('data', 'generate', 'clicks', '--rows', '5'),
    await run('data', 'generate', 'clicks', '--rows', '5'),
  ];
  t.equal(first.out, second.out, 'the seed decides');
  t.equal(first.out.split('\n').length, 7);
  t.match(await run('data', 'generate', 'click'), { code: 2, err: /hint: did you mean clicks\?/ });
});
