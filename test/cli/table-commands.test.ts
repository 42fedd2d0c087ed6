import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { madeTable } from './learn/made-table.js';
import { eventsOf } from './run-cli.js';
import { runHere } from './run-here.js';

const { ratings, items } = madeTable(1500);
const cwd = t.testdir({ 'ratings.csv': ratings, 'items.csv': items });
const run = (...args: string[]) => runHere(args, { cwd });

t.before(async () => {
  const flags = ['--data', 'ratings.csv', '--with', 'items.csv:itemId', '--label', 'rating>=4', '--dim', '4'];
  const { code, err } = await run('train', ...flags, '--split', 'row', '--epochs', '2', '--no-report', '--quiet');
  if (code !== 0) throw new Error(err);
});

t.test('export writes a row for each id, with the value that the data has for it', async (t) => {
  const { code, out, err } = await run(
    'table',
    'export',
    'runs/ratings',
    '--table',
    'userId',
    '--out',
    'u.jsonl',
    '--json',
  );
  t.equal(code, 0, err);
  t.match(JSON.parse(out), { event: 'exported', table: 'userId', rows: 60, floats: 5 });
  const rows = eventsOf(readFileSync(join(cwd, 'u.jsonl'), 'utf8'));
  t.equal(rows.length, 60);
  for (const row of rows) t.match(row, { id: /^-?\d+$/, userId: /^u\d+$/, v0: Number, v4: Number });
});

t.test('import sets rows, and a run goes on from the checkpoint it makes', async (t) => {
  const vectors = ['7', '9'].map((user) => JSON.stringify({ userId: `u${user}`, values: [0.5, 1, -1, 2, 0.25] }));
  writeFileSync(join(cwd, 'v.jsonl'), `${vectors.join('\n')}\n{"userId":"new","values":[1,2,3,4,5]}\n`);
  const asked = ['table', 'import', 'runs/ratings', '--table', 'userId', '--data', 'v.jsonl', '--out', 'runs/changed'];
  const { code, out, err } = await run(...asked, '--json');
  t.equal(code, 0, err);
  const { path, ...told } = JSON.parse(out) as { path: string };
  t.match(told, { event: 'imported', table: 'userId', rows: 3, added: 1 });
  const args = ['table', 'export', 'runs/ratings', '--checkpoint', path, '--table', 'userId', '--out', 'after.jsonl'];
  t.equal((await run(...args)).code, 0);
  const rows = eventsOf(readFileSync(join(cwd, 'after.jsonl'), 'utf8'));
  t.match(
    rows.find(({ userId }) => userId === 'u7'),
    { v0: 0.5, v1: 1, v2: -1, v3: 2, v4: 0.25 },
  );
  t.equal(rows.length, 61);
  const near = await run(
    'table',
    'nearest',
    'runs/ratings',
    '--checkpoint',
    path,
    '--table',
    'userId',
    '--id',
    'u7',
    '--top',
    '1',
  );
  t.match(near, { code: 0, out: '1.000  u9\n' }, 'the same row points the same way');
});

t.test('nearest shows columns of tables beside', async (t) => {
  const args = ['table', 'nearest', 'runs/ratings', '--table', 'itemId', '--id', '1003', '--top', '3'];
  const { code, out, err } = await run(...args, '--show', 'title');
  t.equal(code, 0, err);
  t.match(out, /^(?:-?[01]\.\d{3} {2}10\d\d {2}Title, number \d+\n){3}$/);
  t.match(JSON.parse((await run(...args, '--json')).out), {
    event: 'nearest',
    near: [{ similarity: Number, value: /^10/ }],
  });
});

t.test('what is wrong is told with a hint', async (t) => {
  const cases: [string[], number, RegExp][] = [
    [['table'], 2, /needs a command\nhint: one of export, import, nearest/],
    [['table', 'export', 'runs/ratings', '--out', 'x.csv'], 1, /ML_TABLE_UNKNOWN: .*several.*\nhint: /],
    [['table', 'export', 'runs/ratings', '--table', 'useId', '--out', 'x.csv'], 1, /hint: did you mean userId\?/],
    [['table', 'export', 'runs/ratings', '--table', 'userId'], 2, /needs a file to write/],
    [
      ['table', 'nearest', 'runs/ratings', '--table', 'userId', '--id', 'nobody'],
      1,
      /ML_NOT_FOUND: .*training never saw it/,
    ],
    [
      ['table', 'import', 'runs/ratings', '--table', 'userId', '--data', 'items.csv', '--out', 'x'],
      1,
      /a row needs userId and 5 numbers/,
    ],
  ];
  for (const [args, code, wanted] of cases) t.match(await run(...args), { code, err: wanted }, args.join(' '));
});
