import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { Dataset } from '../../src/data/dataset.js';
import { f } from '../../src/data/fields.js';
import type { FileOptions } from '../../src/data/files/file-rows.js';
import { lowerCase, signedLog } from '../../src/data/known-functions.js';
import { defineSchema, type Features, type Schema } from '../../src/data/schema.js';
import { Estimator } from '../../src/train/estimator/estimator.js';
import { lr } from '../../src/zoo/lr.js';
import { quick, slow } from '../support/quick-batches.js';
import { rounds } from '../support/rounds.js';

const EVERYTHING = defineSchema({
  id: f.id(),
  text: f.id({ from: 'name' }),
  many: f.ids({ split: '|', max: 3 }),
  weighted: f.ids({ split: ' ', max: 4, weights: ':' }),
  words: f.ids({ from: 'name', split: ' ', map: lowerCase }),
  x: f.number(),
  y: f.number({ from: 'x', default: 7, map: signedLog }),
  when: f.time(),
  n: f.int(),
  rating: f.label({ rule: '>=3.5' }),
}) as unknown as Schema<Features>;

const IDS = [
  '0',
  '-5',
  '42',
  '007',
  '18446744073709551615',
  '18446744073709551616',
  '-9223372036854775808',
  '',
  ' 7',
  '9',
];
const NAMES = [
  'Anna',
  '"Smith, ""J"""',
  '"two\nlines"',
  'Ünal',
  '"plain, quoted"',
  '日本 語',
  'a"b',
  '',
  'WORDS of a Text',
  '12345678',
];
const MANY = ['1|2|3|4', '', '|', ' a | b ', '\u00a0x|y', '99999999999|-1', 'c'];
const WEIGHTED = ['1:0.5 2:3', 'a:1e2', '3', '', ':4 5:', '"6:.25 7:-1"'];
const XS = [
  '1',
  '-2.5',
  '',
  '1e3',
  '.5',
  '5.',
  '0.1',
  '123456789.125',
  '-0',
  '1234567890123456789',
  '3e-7',
  '99999999',
  '0x10',
];
const TIMES = ['1260759144', '1260759144.9', '2009-12-14T02:52:24Z', '0'];
const RATINGS = ['3.5', '3.49', '4', '5', '0.5'];

function table(seed: number, rows: number, newline: string): string {
  let state = seed;
  const pick = <T>(list: readonly T[]): T => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return list[(state >>> 8) % list.length]!;
  };
  const lines = ['extra,id,name,many,weighted,x,when,n,rating'];
  for (let row = 0; row < rows; row++) {
    lines.push(
      [
        `e${row}`,
        pick(IDS),
        pick(NAMES),
        pick(MANY),
        pick(WEIGHTED),
        pick(XS),
        pick(TIMES),
        pick(['1', '-2']),
        pick(RATINGS),
      ].join(','),
    );
    if (row % 17 === 3) lines.push('');
  }
  return lines.join(newline);
}

t.test('batches that are decoded from bytes are those of rows as objects', async (t) => {
  const dir = t.testdir({});
  for (let seed = 1; seed <= rounds({ quick: 6, deep: 60 }); seed++) {
    const file = join(dir, `t${seed}.csv`);
    const text = table(seed, 150, seed % 2 === 0 ? '\n' : '\r\n');
    const bytes = seed % 3 === 0 ? `\uFEFF${text}` : text;
    writeFileSync(file, seed % 4 === 0 ? gzipSync(bytes) : bytes);
    const options: FileOptions = seed % 5 === 0 ? { nulls: ['a', 'Anna'] } : {};
    const all = Dataset.from(file, options);
    const made = all.split({ test: 0.2, by: seed % 2 === 0 ? 'row' : 'name' }).train.shuffle(20, { seed });
    for (const rows of [all, made.take(60)]) {
      const { batches } = await quick(rows as Dataset, EVERYTHING);
      t.same(batches, await slow(rows as Dataset, EVERYTHING), `seed ${seed}`);
    }
  }
});

t.test('a stream goes on from a batch as if it had never stopped, pass after pass', async (t) => {
  const file = join(t.testdir({ 'a.csv': table(7, 60, '\n') }), 'a.csv');
  const rows = Dataset.from(file).shuffle(30, { seed: 3 }) as Dataset;
  const { batches } = await quick(rows, EVERYTHING, { epochs: 3 });
  t.equal(batches.length, 3 * 8, '60 rows are 8 batches, the last of 4');
  t.notSame(batches[0], batches[8], 'each pass has an order of its own');
  for (const first of [1, 8, 13]) {
    t.same((await quick(rows, EVERYTHING, { epochs: 3, first })).batches, batches.slice(first));
  }
  const twice = await quick(Dataset.from(file).repeat(2) as Dataset, EVERYTHING);
  t.equal(twice.batches.length, 16);
});

const SMALL = defineSchema({ user: f.id(), x: f.number(), click: f.label() }) as unknown as Schema<Features>;

t.test('a cell that does not fit is told with file, line, byte and column, or left out and counted', async (t) => {
  const dir = t.testdir({
    'bad.csv': 'user,x,click\n1,2,0\n2,abc,1\n4,5,1\n3,4\n',
    'semicolon.csv': 'user;x;click\na;1,5;0\nb;2,25;1\n',
    'other.csv': 'usr,x,click\n1,2,0\n',
    'empty.csv': '',
  });
  const file = join(dir, 'bad.csv');
  const long = Array.from({ length: 300 }, () => '2,abc,1\n').join('');
  writeFileSync(join(dir, 'long.csv'), `user,x,click\n1,2,0\n${long}3,4\n`);
  await t.rejects(quick(Dataset.from(join(dir, 'long.csv')) as Dataset, SMALL), {
    code: 'ML_DATA',
    fields: { where: `${join(dir, 'long.csv')} line 3, byte 19`, column: 'x' },
  });
  const { batches, report } = await quick(Dataset.from(file, { badRows: 'skip' }) as Dataset, SMALL);
  t.same(batches[0]!.feeds[0]!.values, BigInt64Array.of(1n, 4n));
  t.equal(report.badRows, 2);
  await t.rejects(quick(Dataset.from(file, { badRows: 'skip', badRowsMax: 1 }) as Dataset, SMALL), {
    code: 'ML_DATASET',
    message: /1 rows could not be read/,
  });
  const comma = await quick(Dataset.from(join(dir, 'semicolon.csv')) as Dataset, SMALL);
  t.same(comma.batches[0]!.feeds[1]!.values, Float32Array.of(1.5, 2.25));
  await t.rejects(quick(Dataset.from(join(dir, 'other.csv')) as Dataset, SMALL), { code: 'ML_COLUMN', hint: /usr/ });
  await t.rejects(quick(Dataset.from(join(dir, 'empty.csv')) as Dataset, SMALL), {
    code: 'ML_DATASET',
    message: /empty/,
  });
});

t.test('a batch that no place is large enough for is refused', async (t) => {
  const file = join(t.testdir({ 'a.csv': `user,x,click\n${'1,2,0\n'.repeat(80_000)}` }), 'a.csv');
  await t.rejects(quick(Dataset.from(file) as Dataset, SMALL, { batchSize: 100_000 }), { code: 'ML_MEMORY' });
  const { batches } = await quick(Dataset.from(file) as Dataset, SMALL, { batchSize: 8192 });
  t.equal(
    batches.reduce((sum, { rows }) => sum + rows, 0),
    80_000,
  );
});

t.test('an estimator trains on files that a thread reads, as on the same rows in memory', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'clicks.csv');
  const lines = Array.from({ length: 300 }, (_, n) => `${n % 7},${n % 11},${n % 3 === 0 ? 1 : 0}`);
  writeFileSync(file, `user,x,click\n${lines.join('\n')}\n9,what,1\n`);
  const schema = defineSchema({ user: f.id(), x: f.number(), click: f.label() });
  const rows = Dataset.from(file, schema, { badRows: 'skip' });
  const options = { threads: 1, batchSize: 32, seed: 1, deterministic: true } as const;
  const losses: (number | null)[] = [];
  const given = lines.map((line) => {
    const [user, x, click] = line.split(',');
    return { user: user!, x: Number(x), click: Number(click) };
  });
  for (const data of [rows, given]) {
    const estimator = new Estimator(lr(schema), options);
    const { loss, step } = await estimator.train(data as never, { epochs: 2 });
    t.equal(step, 2 * 10);
    losses.push(loss);
    await estimator.close();
  }
  t.equal(losses[0], losses[1]);
  t.equal(rows.findings.badRows, 2, 'one in each pass');
});

t.test('how many rows may be left out is a limit of each pass, not of all epochs together', async (t) => {
  const file = join(t.testdir({ 'bad.csv': 'user,x,click\n1,2,0\n2,abc,1\n4,5,1\n3,4\n' }), 'bad.csv');
  const rows = Dataset.from(file, { badRows: 'skip', badRowsMax: 2 }) as Dataset;
  const { batches, report } = await quick(rows, SMALL, { epochs: 4 });
  t.equal(report.badRows, 8, 'two in each pass');
  t.equal(
    batches.reduce((sum, one) => sum + one.rows, 0),
    8,
  );
  const lines = Dataset.from(file, { badRows: 'skip', badRowsMax: 1 }).repeat(3);
  let count = 0;
  for await (const _ of lines) count++;
  t.same([count, lines.findings.badRows], [9, 3], 'rows as objects too');
});

t.test('a training on files goes on where it stopped', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'clicks.csv');
  const lines = Array.from({ length: 200 }, (_, n) => `${n % 7},${n % 11},${n % 3 === 0 ? 1 : 0}`);
  writeFileSync(file, `user,x,click\n${lines.join('\n')}\n`);
  const schema = defineSchema({ user: f.id(), x: f.number(), click: f.label() });
  const rows = Dataset.from(file, schema).shuffle(64, { seed: 2 });
  const losses: (number | null)[] = [];
  for (const [name, parts] of Object.entries({ whole: [17], parts: [6, 11] })) {
    let loss: number | null = null;
    for (const steps of parts) {
      const modelDir = join(dir, name);
      const estimator = new Estimator(lr(schema), {
        modelDir,
        threads: 1,
        batchSize: 32,
        seed: 1,
        deterministic: true,
      });
      ({ loss } = await estimator.train(rows, { steps }));
      await estimator.close();
    }
    losses.push(loss);
  }
  t.equal(losses[1], losses[0]);
});
