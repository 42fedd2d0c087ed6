import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import t from 'tap';
import { missing } from '../requirement.js';
import { madeTable } from './learn/made-table.js';
import { eventsOf, runCli } from './run-cli.js';
import { runHere } from './run-here.js';

const { ratings, items } = madeTable(2000);
const cwd = t.testdir({ 'ratings.csv': ratings, 'items.csv': items, 'items.txt': 'x' });
const run = (...args: string[]) => runHere(args, { cwd });
const THREADS = ['--threads', '2'];
const BASE = ['--data', 'ratings.csv', '--with', 'items.csv:itemId', '--label', 'rating>=4', ...THREADS, '--json'];

t.before(async () => {
  for (const more of [[], ['--dim', '4']]) {
    const { code, err } = await run(
      'train',
      ...BASE,
      '--split',
      'row',
      '--epochs',
      '2',
      '--no-report',
      '--quiet',
      ...more,
    );
    if (code !== 0) throw new Error(err);
  }
  // What a run keeps of the tables beside its data is enough.
  renameSync(join(cwd, 'items.csv'), join(cwd, 'gone.csv'));
});

t.test('eval says again what the training said of the rows it held out', async (t) => {
  const { code, out, err } = await run('eval', 'runs/ratings', '--json', ...THREADS);
  t.equal(code, 0, err);
  const test = readFileSync(join(cwd, 'runs/ratings/events.jsonl'), 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`{"event":"test"`))!;
  const [found] = eventsOf(out);
  const wanted = JSON.parse(test);
  t.equal(found!.auc, wanted.auc);
  t.match(found, { event: 'test', step: wanted.step, examples: wanted.examples, baseline: wanted.baseline });
  t.match(await run('eval', 'runs/ratings', ...THREADS), {
    code: 0,
    out: /held-out AUC {2}0\.\d{4} +averages of userId/,
  });
  const other = await run('eval', 'runs/ratings', '--data', 'ratings.csv', '--json', ...THREADS);
  t.match(JSON.parse(other.out), { examples: 2000, baseline: null });
  writeFileSync(join(cwd, 'later.csv'), ratings);
  for (const [file, rows] of [
    ['./ratings.csv', 'rows, those it was trained on among them'],
    ['later.csv', 'rows'],
  ] as const) {
    const { out } = await run('eval', 'runs/ratings', '--data', file, ...THREADS);
    t.match(out, new RegExp(`\\n {2}AUC +0\\.\\d{4}\\n {2}loss +\\S+ +on 2,000 ${rows}\\n$`));
    t.notMatch(out, /held-out|chose nothing/, 'it is not known that they were held out');
  }
});

t.test('predict keeps all columns and counts ids that are new', async (t) => {
  const rows = ['price,itemId,userId,note', '10,1003,u7,"a, b"', '12.5,1004,u999,c'];
  writeFileSync(join(cwd, 'new.csv'), `${rows.join('\n')}\n`);
  const plain = await run('predict', 'runs/ratings', '--data', 'new.csv', ...THREADS);
  t.equal(plain.code, 0, plain.err);
  t.match(
    plain.out,
    /^price,itemId,userId,note,prediction,unknown_ids\n10,1003,u7,"a, b",0\.\d+,\n12\.5,1004,u999,c,0\.\d+,userId\n$/,
  );
  t.match(plain.err, /^2 rows in .*\n1 whose userId training never saw/);
  const predictions = plain.out.match(/0\.\d{3,}/g)!.map(Number);
  for (const ending of ['csv', 'tsv', 'jsonl', 'tfrecord', 'parquet']) {
    const { code, out, err } = await run(
      'predict',
      'runs/ratings',
      '--data',
      'new.csv',
      '--out',
      `p.${ending}`,
      '--json',
      ...THREADS,
    );
    t.equal(code, 0, err);
    t.match(JSON.parse(out), { event: 'predicted', rows: 2, unknown: { userId: 1 }, bad_rows: 0 }, ending);
  }
  const { buffer, byteOffset, length } = readFileSync(join(cwd, 'p.parquet'));
  const file = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
  const read = await parquetReadObjects({ file });
  t.match(read, [
    { userId: 'u7', note: 'a, b' },
    { userId: 'u999', unknown_ids: 'userId' },
  ]);
  t.same(
    read.map(({ prediction }) => prediction),
    predictions,
  );
  const again = await run('predict', 'runs/ratings', '--data', 'p.tfrecord', '--json', '--quiet', ...THREADS);
  t.match(eventsOf(again.out), [{ itemId: /1003/ }, { prediction: Number }], 'what was written is read again');
});

t.test('a bad row stops a prediction, or is left out', async (t) => {
  writeFileSync(join(cwd, 'bad.csv'), 'price,itemId,userId\n10,1003,u7\nx,1003,u7\n11,1003,u8\n');
  t.match(await run('predict', 'runs/ratings', '--data', 'bad.csv', '--out', 'bad.jsonl', ...THREADS), {
    code: 1,
    err: /ML_DATA: bad\.csv line 3.*column price: "x" is not a number/,
  });
  t.notOk(existsSync(join(cwd, 'bad.jsonl')), 'nothing is half written');
  const left = await run(
    'predict',
    'runs/ratings',
    '--data',
    'bad.csv',
    '--bad-rows',
    'skip',
    '--out',
    'bad.jsonl',
    '--json',
  );
  t.match(JSON.parse(left.out), { rows: 2, bad_rows: 1 });
});

t.test('recommend leaves out what was seen and shows columns of tables beside', async (t) => {
  const { code, out, err } = await run(
    'recommend',
    'runs/ratings',
    '--for',
    'userId=u7',
    '--top',
    '3',
    '--show',
    'title',
    ...THREADS,
  );
  t.equal(code, 0, err);
  t.equal(out.split('\n').length, 4);
  t.match(out, /^0\.\d{3} {2}10\d\d {2}Title, number \d+$/m);
  t.match(err, /^\d+ of itemId scored in .*, \d+ that were seen left out$/m);
  const seen = new Set(
    ratings
      .split('\n')
      .filter((line) => line.startsWith('u7,'))
      .map((line) => line.split(',')[1]!),
  );
  const asked = (...more: string[]) =>
    run('recommend', 'runs/ratings', '--for', 'userId=u7', '--top', '80', '--json', ...THREADS, ...more);
  const found = JSON.parse((await asked()).out) as { items: { id: string; score: number }[]; seen: number };
  t.equal(found.seen, seen.size);
  t.notOk(found.items.some(({ id }) => seen.has(id)));
  t.same(
    found.items.map(({ score }) => score),
    found.items.map(({ score }) => score).sort((a, b) => b - a),
  );
  t.equal(JSON.parse((await asked('--no-seen')).out).items.length, 80);
  t.match(JSON.parse((await run('recommend', 'runs/ratings', '--for', 'userId=nobody', '--json')).out), {
    unknown: ['userId'],
  });
});

t.test('explain finds the columns that matter', async (t) => {
  const { code, out, err } = await run('explain', 'runs/ratings', '--repeats', '2', '--json', ...THREADS);
  t.equal(code, 0, err);
  const { columns } = JSON.parse(out) as { columns: { column: string; mean: number }[] };
  t.equal(columns[0]!.column, 'itemId');
  t.ok(columns[0]!.mean < -0.05, `${columns[0]!.mean}`);
  t.ok(Math.abs(columns.find(({ column }) => column === 'price')!.mean) < 0.02, 'a random number is of no use');
  t.match((await run('explain', 'runs/ratings', ...THREADS)).out, /^itemId +█{20} +-0\.\d{4} ± 0\.\d{4}$/m);
});

t.test('compare sets two runs beside each other', async (t) => {
  const { code, out, err } = await run('compare', 'runs/ratings', 'runs/ratings-2', ...THREADS);
  t.equal(code, 0, err);
  t.match(out, /^AUC +0\.\d{4} +0\.\d{4} +[+-]0\.\d{4} +\(95 % interval: [+-]0\.\d{4} … [+-]0\.\d{4}, \d+ rows\)$/m);
  t.match(out, /^dim +- +4$/m);
  const same = JSON.parse((await run('compare', 'runs/ratings', 'runs/ratings', '--json', ...THREADS)).out);
  t.match(same, { differs: [], difference: { difference: 0, low: 0, high: 0 } });
});

t.test('what is wrong is told with a hint', async (t) => {
  const cases: [string[], number, RegExp][] = [
    [['eval', 'runs/rating'], 1, /ML_FILE_READ: .*no such folder\nhint: did you mean ratings\?/],
    [['export', 'runs/ratings'], 2, /--to: is missing\nhint: --to <dir>: folder of versions/],
    [['eval', '.'], 1, /ML_MODEL: .*no folder of a run on a table/],
    [['predict', 'runs/ratings'], 2, /needs rows to predict on\nhint: --data FILE/],
    [['predict', 'runs/ratings', '--data', 'new.csv', '--out', 'p.parket'], 2, /hint: did you mean parquet\?/],
    [['predict', 'runs/ratings', '--data', 'nwe.csv'], 1, /ML_FILE_READ.*\nhint: did you mean new\.csv\?/],
    [['predict', 'runs/ratings', '--data', 'items.txt'], 1, /ML_/],
    [['recommend', 'runs/ratings', '--for', 'user=3'], 1, /ML_COLUMN: .*\nhint: did you mean userId\?/],
    [['recommend', 'runs/ratings', '--for', 'userId'], 2, /--for: must be COLUMN=VALUE/],
    [['recommend', 'runs/ratings', '--for', 'userId=u1', '--show', 'titel'], 1, /hint: did you mean title\?/],
    [['compare', 'runs/ratings'], 2, /missing required argument 'other'/],
  ];
  for (const [args, code, wanted] of cases) t.match(await run(...args), { code, err: wanted }, args.join(' '));
});

const full = existsSync('/dev/full') ? {} : { skip: missing('linux', 'this system has no /dev/full') };
t.test('an answer that cannot be written is an error', full, async (t) => {
  const stdout = openSync('/dev/full', 'w');
  t.teardown(() => closeSync(stdout));
  const ended = await runCli(['eval', 'runs/ratings', '--json', '--threads', '1'], { cwd, stdout });
  t.match(ended, { code: 1, err: /^error ML_OUTPUT: output cannot be written: ENOSPC/ });
});
