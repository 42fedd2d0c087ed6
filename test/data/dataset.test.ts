import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { Dataset } from '../../src/data/dataset.js';
import { encodeRows } from '../../src/data/encode-rows.js';
import { textId } from '../../src/data/farmhash.js';
import { f } from '../../src/data/fields.js';
import { placeOf } from '../../src/data/files/place.js';
import { defineSchema } from '../../src/data/schema.js';
import { frameRecord } from '../../src/io/record-writer.js';
import { TF_EXAMPLE } from '../../src/io/tf-example.js';
import { recordBytes } from '../io/snappy-stream.js';

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

const numbers = (count: number) => Dataset.from(Array.from({ length: count }, (_, n) => ({ n })));
const values = async (rows: Dataset<{ n: number }>) => (await all(rows)).map(({ n }) => n);

t.test('a CSV file is read as it is found to be', async (t) => {
  const dir = t.testdir({
    'comma.csv': '\uFEFFuser,price,note\r\n1,2.5,"a, ""b""\nc"\r\n\r\n2,3.5,d\r\n',
    'semicolon.csv': 'user;price\n1;2,5\n2;3,75\n',
    'tab.tsv': '1\t2\n3\t4\n',
    'odd.csv': 'a,,a\n1,2,3\n',
  });
  const read = (name: string, options = {}) => all(Dataset.from(join(dir, name), options));
  const plain = async (name: string, options = {}) => (await read(name, options)).map((row) => ({ ...row }));
  t.same(await plain('comma.csv'), [
    { user: '1', price: '2.5', note: 'a, "b"\nc' },
    { user: '2', price: '3.5', note: 'd' },
  ]);
  t.same(await plain('semicolon.csv'), [
    { user: '1', price: '2.5' },
    { user: '2', price: '3.75' },
  ]);
  t.same(await plain('tab.tsv'), [
    { column_1: '1', column_2: '2' },
    { column_1: '3', column_2: '4' },
  ]);
  t.same(await plain('tab.tsv', { columns: ['x', 'y'], header: true }), [{ x: '3', y: '4' }]);
  t.same(await plain('odd.csv', { nulls: ['2'] }), [{ a: '1', column_2: '', a_2: '3' }]);
  const [, second] = await read('comma.csv');
  t.equal(placeOf(second!), `${join(dir, 'comma.csv')} line 5, byte 42`);
  const odd = Dataset.from(join(dir, 'odd.csv'));
  await all(odd);
  t.match(odd.findings.forms.get(join(dir, 'odd.csv'))!.notes, [
    /comma: delimiter/,
    /column 2 is called column_2/,
    /a_2/,
  ]);
});

t.test('compressed files are read by what they are, whatever their name', async (t) => {
  const dir = t.testdir({});
  const text = 'id,x\n1,2\n';
  writeFileSync(join(dir, 'a.csv.gz'), Buffer.concat([gzipSync(text), gzipSync('3,4\n')]));
  writeFileSync(join(dir, 'b.csv'), deflateSync(text));
  t.same(
    (await all(Dataset.from(join(dir, 'a.csv.gz')))).map(({ id }) => id),
    ['1', '3'],
    'gzip of two members',
  );
  t.same(
    (await all(Dataset.from(join(dir, 'b.csv')))).map(({ id }) => id),
    ['1'],
  );
  const cut = gzipSync(text.repeat(1000)).subarray(0, 40);
  writeFileSync(join(dir, 'cut.csv.gz'), cut);
  await t.rejects(all(Dataset.from(join(dir, 'cut.csv.gz'))), {
    code: 'ML_FILE_READ',
    fields: { file: join(dir, 'cut.csv.gz') },
  });
});

t.test('JSON lines keep every digit of an id', async (t) => {
  const dir = t.testdir({
    'rows.jsonl':
      '{"id":9223372036854775807,"text":"id 12345678901234567890","list":[1,-1234567890123456789],"x":1.5}\n' +
      '\n{"id":1}\n',
    'bad.jsonl': '{"id":1}\n{"id":\n[1]\n{"id":2}\n',
  });
  t.same(
    (await all(Dataset.from(join(dir, 'rows.jsonl')))).map((row) => ({ ...row })),
    [
      { id: '9223372036854775807', text: 'id 12345678901234567890', list: [1, '-1234567890123456789'], x: 1.5 },
      { id: 1 },
    ],
  );
  await t.rejects(all(Dataset.from(join(dir, 'bad.jsonl'))), { code: 'ML_DATA', message: /bad\.jsonl line 2, byte 9/ });
  const skipping = Dataset.from(join(dir, 'bad.jsonl'), { badRows: 'skip' });
  t.equal((await all(skipping)).length, 2);
  t.equal(skipping.findings.badRows, 2);
  await t.rejects(all(Dataset.from(join(dir, 'bad.jsonl'), { badRows: 'skip', badRowsMax: 1 })), { code: 'ML_DATA' });
});

t.test('options count without a schema before them', async (t) => {
  const dir = t.testdir({ 'bad.csv': 'a;b\n1;2\n3\n4;5\n' });
  const from = Dataset.from as (given: string, schema: undefined, options: object) => Dataset;
  const rows = from(join(dir, 'bad.csv'), undefined, { badRows: 'skip', delimiter: ';' });
  t.equal((await all(rows)).length, 2);
  t.throws(() => from(join(dir, 'bad.csv'), undefined, { badrows: 'skip' }), { code: 'ML_OPTION' });
});

t.test('a column that a row lacks is missing, also where all objects inherit its name', async (t) => {
  const dir = t.testdir({
    'a.jsonl': '{"constructor":1,"toString":2,"click":1}\n{"click":0}\n',
    'b.jsonl': '{"click":0}\n',
  });
  const schema = defineSchema({ constructor: f.id(), toString: f.number({ default: 7 }), click: f.label() });
  const encoded = async (name: string) => encodeRows(schema, (await all(Dataset.from(join(dir, name)))) as never).feeds;
  const feeds = await encoded('a.jsonl');
  t.same([...(feeds.constructor as never as BigInt64Array)], [1n, textId('')]);
  t.same([...(feeds.toString as never as Float32Array)], [2, 7]);
  await t.rejects(encoded('b.jsonl'), { code: 'ML_COLUMN' });
});

t.test('a TFRecord of tf.Example gives single values and lists', async (t) => {
  const dir = t.testdir({});
  const example = TF_EXAMPLE.encode({
    features: {
      feature: new Map<string, object>([
        ['ids', { int64List: { value: BigInt64Array.of(1n, -2n) } }],
        ['label', { floatList: { value: Float32Array.of(0.5) } }],
        ['text', { bytesList: { value: [Buffer.from('é')] } }],
      ]),
    },
  });
  const bytes = new Uint8Array(example.length + 16);
  bytes.set(example, 12);
  frameRecord(bytes, new DataView(bytes.buffer), 0, example.length);
  writeFileSync(join(dir, 'a.tfrecord'), bytes);
  const [row] = await all(Dataset.from(join(dir, 'a.tfrecord')));
  t.same({ ...row }, { ids: BigInt64Array.of(1n, -2n), label: 0.5, text: 'é' });
  t.equal(placeOf(row!), `${join(dir, 'a.tfrecord')} record 0, byte 0`);
  writeFileSync(join(dir, 'cut.tfrecord'), bytes.subarray(0, 30));
  await t.rejects(all(Dataset.from(join(dir, 'cut.tfrecord'))), { code: 'ML_RECORD' });
});

t.test('bad lines and cells say file, line, byte and column', async (t) => {
  const dir = t.testdir({ 'bad.csv': 'user,rating\n1,2\n3\n4,n/a\n5,"6\n', 'empty.csv': '' });
  const file = join(dir, 'bad.csv');
  await t.rejects(all(Dataset.from(file)), {
    code: 'ML_DATA',
    message: /line 3, byte 16, column rating: .* 1 cells, not 2/,
  });
  const rows = await all(Dataset.from(file, { badRows: 'skip' }));
  const schema = defineSchema({ user: f.id(), rating: f.label() });
  t.throws(() => encodeRows(schema, rows as never), { message: /bad\.csv line 4, byte 18, column rating: .*n\/a/ });
  await t.rejects(all(Dataset.from(join(dir, 'empty.csv'))), { code: 'ML_DATASET', message: /is empty/ });
  await t.rejects(all(Dataset.from(join(dir, 'bad.csv'), { delimiter: ';;' })), { code: 'ML_OPTION' });
  t.throws(() => Dataset.from(join(dir, 'none.csv')), { code: 'ML_DATASET', message: /no match files/ });
  t.throws(() => Dataset.from(file, { fromat: 'csv' } as never), { code: 'ML_OPTION', hint: /format/ });
  t.throws(() => Dataset.from(file, { format: 'cvs' as never }), { code: 'ML_OPTION', hint: /csv/ });
});

t.test('a column that objects take for something else is not lost in silence', async (t) => {
  const example = { features: { feature: new Map([['__proto__', { int64List: { value: [1n] } }]]) } };
  const dir = t.testdir({ 'a.csv': '__proto__,user\n1,2\n', 'a.jsonl': '{"__proto__":1,"user":2}\n' });
  writeFileSync(join(dir, 'a.tfrecord'), await recordBytes([TF_EXAMPLE.encode(example as never)]));
  t.same(await all(Dataset.from(join(dir, 'a.csv'), { header: true })), [{ column_1: '1', user: '2' }]);
  for (const name of ['a.jsonl', 'a.tfrecord']) {
    await t.rejects(all(Dataset.from(join(dir, name))), { code: 'ML_DATA', message: /cannot be called __proto__/ });
  }
});

t.test('a line that is no JSON costs its length, whatever stands in it', async (t) => {
  const dir = t.testdir({ 'a.jsonl': `{"a":1234567890123456,"b":"${'\\"'.repeat(1_000_000)}\n` });
  await t.rejects(all(Dataset.from(join(dir, 'a.jsonl'))), { code: 'ML_DATA', message: /line 1/ });
});

t.test('rows are changed, chosen and repeated, and every pass begins anew', async (t) => {
  const rows = numbers(10);
  t.same(await values(rows.filter(({ n }) => n % 2 === 0).map(({ n }) => ({ n: n * 10 }))), [0, 20, 40, 60, 80]);
  t.same(await values(rows.take(3).repeat(2)), [0, 1, 2, 0, 1, 2]);
  t.same(await values(rows.take(3).repeat(2)), [0, 1, 2, 0, 1, 2]);
  t.same(
    (await all(rows.batches(4))).map((batch) => batch.length),
    [4, 4, 2],
  );
  t.throws(() => rows.take(0), { code: 'ML_OPTION' });
  t.throws(() => rows.map(1 as never), { code: 'ML_OPTION' });
});

t.test('a shuffle has all rows, in another order in each pass, the same for a seed', async (t) => {
  const shuffled = () => numbers(1000).shuffle(100, { seed: 3 });
  const rows = shuffled();
  const [first, second] = [await values(rows), await values(rows)];
  t.not(first.join(), second.join());
  t.same(
    first.toSorted((a, b) => a - b),
    await values(numbers(1000)),
  );
  t.same(await values(shuffled()), first);
});

t.test('parts of a split have no row in common, whatever decides', async (t) => {
  const rows = Dataset.from(Array.from({ length: 1000 }, (_, n) => ({ n, user: n % 50, at: 1000 - n })));
  const { train, test } = rows.split({ test: 0.2 });
  const [kept, held] = [await all(train), await all(test)];
  t.equal(kept.length + held.length, 1000);
  t.ok(held.length > 150 && held.length < 250, `${held.length} rows are held out`);
  const byUser = rows.split({ test: 0.2, by: 'user' });
  const users = new Set((await all(byUser.test)).map(({ user }) => user));
  t.ok(users.size > 0 && (await all(byUser.train)).every(({ user }) => !users.has(user)));
  const schema = defineSchema({ n: f.label(), time: f.time({ from: 'at' }) });
  const timed = Dataset.from(
    Array.from({ length: 100 }, (_, n) => ({ n, at: 1000 - n })),
    schema,
  ).split({ test: 0.1 });
  t.same(
    (await all(timed.test)).map(({ n }) => n),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    'the newest',
  );
  t.throws(() => rows.split({ test: 1 }), { code: 'ML_OPTION' });
  t.throws(() => rows.split({ test: 0.5, by: 'time' }), { code: 'ML_OPTION' });
  await t.rejects(all(rows.split({ test: 0.5, by: 'usre' }).test), { code: 'ML_COLUMN', hint: /user/ });
});

t.test('a side table stands beside the rows of its key', async (t) => {
  const side = [
    { movie: 1, title: 'one', year: 1990 },
    { movie: '2', title: 'two', year: 1991 },
  ];
  const rows = Dataset.from([
    { movie: '1', n: 0 },
    { movie: 2, n: 1 },
    { movie: 3, n: 2 },
  ]);
  t.same(
    (await all(rows.with(side, { key: 'movie', columns: ['title'] }))).map((row) => ({ ...row })),
    [
      { title: 'one', movie: '1', n: 0 },
      { title: 'two', movie: 2, n: 1 },
      { movie: 3, n: 2 },
    ],
  );
  await t.rejects(all(rows.with(side, { key: 'move' })), { code: 'ML_COLUMN', hint: /movie/ });
  await t.rejects(all(rows.with(side, { key: 'movie', columns: ['titel'] })), { code: 'ML_COLUMN', hint: /title/ });
});

t.test('several files are one, and one of so many workers reads its share', async (t) => {
  const dir = t.testdir(Object.fromEntries([0, 1, 2].map((n) => [`part${n}.csv`, `n\n${n}\n`])));
  const pattern = `${dir}/part{INT(0,2)}.csv`;
  t.same(
    (await all(Dataset.from(pattern))).map(({ n }) => n),
    ['0', '1', '2'],
  );
  t.same(
    (await all(Dataset.from(pattern, { shard: { index: 0, count: 2 } }))).map(({ n }) => n),
    ['0', '2'],
  );
  t.throws(() => Dataset.from(pattern, { shard: { index: 2, count: 2 } }), { code: 'ML_OPTION' });
});
