import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import t from 'tap';
import { madeTable } from './learn/made-table.js';
import { eventsOf } from './run-cli.js';
import { runHere } from './run-here.js';

const { ratings, items } = madeTable(300);
const cwd = t.testdir({
  'ratings.csv': ratings,
  'items.csv': items,
  'part-1.csv.gz': gzipSync('id;price\n1;3,5\n2;\n') as never,
  'mixed.csv': `n,m\n${'1,2\n'.repeat(70_000)}x,2\n`,
  'empty.csv': '',
  'inherited.jsonl': '{"toString":1,"at":1}\n{"at":2,"constructor":"c"}\n',
  'late.jsonl': `${'{"a":1}\n'.repeat(70_000)}{"a":2,"late":5}\n`,
  'escapes.csv': 'a\x1b[31mred,b\nx\x1b[2Jy,1\n"q\nr",0\n',
  'text.jsonl': '{"id":12345678901234567890,"tags":["a","b"],"at":1.5}\n{"id":7,"tags":[]}\n',
});
const run = (...args: string[]) => runHere(args, { cwd });

t.test('head shows rows as they are read', async (t) => {
  const { code, out, err } = await run('data', 'head', 'items.csv', '--rows', '2');
  t.equal(code, 0, err);
  t.match(out, /^itemId {2}title +genres\n1000 +Title, number 0 {2}\S+\n1001 +Title, number 1 {2}\S+\n$/);
  t.match(eventsOf((await run('data', 'head', 'part-1.csv.gz', '--json')).out), [
    { id: '1', price: /3.5/ },
    { id: '2' },
  ]);
  t.match((await run('data', 'head', 'text.jsonl', '--json')).out, /^\{"id":"12345678901234567890","tags":\["a","b"\]/);
});

t.test('stat tells of each column what training would take it for', async (t) => {
  const { code, out, err } = await run('data', 'stat', 'ratings.csv', '--label', 'rating>=4');
  t.equal(code, 0, err);
  t.match(out, /^ratings\.csv {2}300 rows, [\d.]+ KiB {2}\(read whole in [\d.]+ s\)$/m);
  t.match(out, /^userId +text +id +0% +\d+ +u\d+ \([\d.]+ %\), u\d+, u\d+ +[▁▂▃▄▅▆▇█]+$/m);
  t.match(out, /^rating +int +label +0% +5 +1 … 5, mean [\d.]+ +[▁▂▃▄▅▆▇█]{5}$/m);
  t.match(out, /^timestamp +time +time +0% +300 +2017-07-14 … 2017-07-14/m);
  const [found] = eventsOf((await run('data', 'stat', 'ratings.csv', '--json', '--ignore', 'price')).out);
  const columns = found!.columns as { name: string; role: string; histogram: number[] }[];
  t.match(found, { event: 'stat', rows: 300 });
  t.match(
    columns.find(({ name }) => name === 'price'),
    { role: 'none' },
  );
  for (const { name, histogram } of columns)
    t.equal(
      histogram.reduce((sum, count) => sum + count, 0),
      300,
      name,
    );
});

t.test('schema is a module to go on from', async (t) => {
  const { code, out, err } = await run('data', 'schema', 'ratings.csv', '--label', 'rating>=4', '--number', 'price');
  t.equal(code, 0, err);
  t.match(out, "import { defineSchema, f } from 'monolith-ts';");
  for (const line of [
    'userId: f.id(),',
    'price: f.number(),',
    'timestamp: f.time(),',
    "rating: f.label({ rule: '>=4' }),",
  ]) {
    t.match(out, line);
  }
  const json = JSON.parse((await run('data', 'schema', 'ratings.csv', '--label', 'rating>=4', '--json')).out);
  t.match(json, { event: 'schema', label: { column: 'rating', rule: '>=4' } });
});

t.test('convert writes numbers as numbers, and what it wrote is read again', async (t) => {
  const { code, out, err } = await run(
    'data',
    'convert',
    'ratings.csv',
    '--out',
    'r.parquet',
    '--text',
    'itemId',
    '--json',
  );
  t.equal(code, 0, err);
  t.match(JSON.parse(out), { event: 'converted', rows: 300, out: 'r.parquet' });
  const { buffer, byteOffset, length } = readFileSync(join(cwd, 'r.parquet'));
  const read = await parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer });
  const [first] = ratings.split('\n')[1]!.split(',').length === 5 ? [ratings.split('\n')[1]!.split(',')] : [];
  const [userId, itemId, rating, timestamp, price] = first!;
  t.same(read[0], { userId, itemId, rating: BigInt(rating!), timestamp: BigInt(timestamp!), price: Number(price) });
  t.equal(read.length, 300);
  t.equal((await run('data', 'convert', 'ratings.csv', '--out', 'r.tfrecord', '--take', '5')).code, 0);
  t.equal((await run('data', 'convert', 'r.tfrecord', '--out', 'again.csv', '--quiet')).code, 0);
  t.equal(readFileSync(join(cwd, 'again.csv'), 'utf8').trimEnd().split('\n').length, 6);
});

t.test('what is wrong is told with a hint', async (t) => {
  const cases: [string[], number, RegExp][] = [
    [['data'], 2, /needs a command\nhint: one of head, stat, schema, convert/],
    [['data', 'hed', 'x'], 2, /hint: did you mean head\?/],
    [['data', 'head', 'rating.csv'], 1, /hint: did you mean ratings\.csv\?/],
    [['data', 'head', 'empty.csv'], 1, /ML_DATASET: .*empty/],
    [['data', 'stat', 'ratings.csv', '--label', 'rating4'], 1, /hint: did you mean --label rating\?/],
    [['data', 'stat', 'ratings.csv', '--id', 'prise'], 1, /hint: did you mean price\?/],
    [['data', 'schema', 'ratings.csv'], 2, /needs the label\nhint: --label/],
    [['data', 'convert', 'ratings.csv'], 2, /needs a file to write/],
    [['data', 'convert', 'ratings.csv', '--out', 'x.xls'], 2, /names no format that is written/],
    [
      ['data', 'convert', 'mixed.csv', '--out', 'm.jsonl'],
      1,
      /ML_DATA: .*line 70002.*"x" is no whole number\nhint: --text n/,
    ],
  ];
  for (const [args, code, wanted] of cases) t.match(await run(...args), { code, err: wanted }, args.join(' '));
});

t.test('what a terminal would obey is shown, and rows stay on their lines', async (t) => {
  for (const command of ['head', 'stat']) {
    const { code, out, err } = await run('data', command, 'escapes.csv');
    t.equal(code, 0, err);
    t.notMatch(out, '\x1b');
    t.match(out, 'a\\u001b[31mred');
    t.match(out, /q\\u000ar/);
  }
});

t.test('a cell that is not there is empty, also where all objects inherit its name', async (t) => {
  for (const name of ['inherited.csv', 'inherited.parquet']) {
    t.equal((await run('data', 'convert', 'inherited.jsonl', '--out', name)).code, 0);
    const rows = eventsOf((await run('data', 'head', name, '--json')).out) as object[];
    t.same(
      rows.map((row) => Object.values(row).map((cell) => (cell === null ? '' : String(cell)))),
      [
        ['1', '1', ''],
        ['', '2', 'c'],
      ],
      name,
    );
  }
  t.notMatch((await run('data', 'head', 'inherited.jsonl')).out, 'native code');
});

t.test('a column that comes after the first rows is not lost without a word', async (t) => {
  for (const name of ['late.csv', 'late.parquet']) {
    const { code, err } = await run('data', 'convert', 'late.jsonl', '--out', name);
    t.equal(code, 1);
    t.match(err, /no column late/);
  }
  t.equal((await run('data', 'convert', 'late.jsonl', '--out', 'late-2.jsonl')).code, 0);
  t.match(readFileSync(join(cwd, 'late-2.jsonl'), 'utf8'), /\{"a":2,"late":5\}\n$/);
});
