import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as zlib from 'node:zlib';
import type { CompressionCodec, Encoding, SchemaElement } from 'hyparquet';
import { ByteWriter, type ColumnSource, ParquetWriter, parquetWriteBuffer } from 'hyparquet-writer';
import t from 'tap';
import { MersenneTwister } from '../../../src/base/random.js';
import { Dataset } from '../../../src/data/dataset.js';
import { f } from '../../../src/data/fields.js';
import { ParquetFile } from '../../../src/data/files/parquet-file.js';
import { lowerCase, signedLog } from '../../../src/data/known-functions.js';
import { defineSchema, type Features, type Schema } from '../../../src/data/schema.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import { lr } from '../../../src/zoo/lr.js';
import { quick, slow } from '../../support/quick-batches.js';
import { rounds } from '../../support/rounds.js';

const FIXTURES = fileURLToPath(new URL('../../../../test/fixtures/parquet', import.meta.url));

const EVERYTHING = defineSchema({
  id: f.id({ from: 'int64' }),
  small: f.id({ from: 'int32' }),
  whole: f.id({ from: 'double' }),
  name: f.id(),
  lower: f.id({ from: 'name', map: lowerCase }),
  flag: f.id({ from: 'bool' }),
  on: f.number({ from: 'bool', default: 0.5 }),
  words: f.ids({ from: 'name', split: ' ', map: lowerCase, max: 2 }),
  weighted: f.ids({ split: ' ', max: 3, weights: ':' }),
  one: f.ids({ from: 'int64' }),
  many: f.ids({ from: 'list', max: 3 }),
  tags: f.ids({ max: 4, map: lowerCase }),
  x: f.number({ from: 'float' }),
  y: f.number({ from: 'double', default: 7, map: signedLog }),
  z: f.number({ from: 'int64' }),
  seconds: f.time({ from: 'time' }),
  stamp: f.time(),
  n: f.int({ from: 'time' }),
  liked: f.label({ from: 'rating', rule: '>=3.5' }),
  yes: f.label({ from: 'answer', positive: ['yes', '1'] }),
}) as unknown as Schema<Features>;

const NAMES = [
  'Anna',
  'anna',
  'Ünal B',
  '日本 語',
  '',
  '42',
  '007',
  '-5',
  'a much longer text of many WORDS in it',
  'İ',
];
const WHOLE = [0, 1, -7, 2 ** 31, 2 ** 53 - 1, -(2 ** 53 - 1)];
const LONG = [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 1234567890123456789n];
const CODECS = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI'] as const satisfies readonly CompressionCodec[];
const compressors = {
  GZIP: (input: Uint8Array) => zlib.gzipSync(input),
  BROTLI: (input: Uint8Array) => zlib.brotliCompressSync(input),
};

type Pick = <T>(list: readonly T[]) => T;

/** Values of all columns, of which some are missing where that may be. */
function cells(pick: Pick, row: number, gaps: boolean): Record<string, unknown> {
  const some = <T>(value: T): T | null => (gaps && pick([0, 0, 0, 1]) === 1 ? null : value);
  const list = <T>(values: readonly T[]) => Array.from({ length: pick([0, 1, 2, 5]) }, () => pick(values));
  return {
    int64: some(pick(LONG)),
    int32: some(pick([0, 1, -1, 2 ** 31 - 1, -(2 ** 31)])),
    double: some(pick(WHOLE)),
    name: some(pick(NAMES)),
    bool: some(pick([true, false])),
    weighted: some(pick(['1:0.5 2:3', 'a:1e2', '3', '', ':4 5:', 'ü:2 b'])),
    list: some(list(gaps ? [...LONG, null] : LONG)),
    tags: some(list(['a', 'B', 'Ünal', '17'])),
    float: some(pick([0, -1.5, 1e30, 3.25, row])),
    time: pick([0n, 1260759144n, -1n]),
    stamp: new Date(pick([0, 1_260_759_144_901, 999])),
    rating: pick([3.5, 3.4999, 5, row]),
    answer: pick(['yes', 'no', ' 1 ', '1']),
  };
}

const TYPES: Readonly<Record<string, ColumnSource['type']>> = {
  int64: 'INT64',
  int32: 'INT32',
  double: 'DOUBLE',
  name: 'STRING',
  bool: 'BOOLEAN',
  weighted: 'STRING',
  float: 'FLOAT',
  time: 'INT64',
  stamp: 'TIMESTAMP',
  rating: 'DOUBLE',
  answer: 'STRING',
};
const LISTS: Readonly<Record<string, Partial<SchemaElement>>> = {
  list: { type: 'INT64' },
  tags: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
};

function elements(gaps: boolean): SchemaElement[] {
  const repetition_type = gaps ? 'OPTIONAL' : 'REQUIRED';
  const flat = Object.entries(TYPES).map(([name, type]): SchemaElement => {
    const repeat = ['time', 'stamp', 'rating', 'answer'].includes(name) ? 'REQUIRED' : repetition_type;
    if (type === 'STRING') return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: repeat };
    if (type !== 'TIMESTAMP') return { name, type: type as 'INT64', repetition_type: repeat };
    return { name, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: repeat };
  });
  const lists = Object.entries(LISTS).flatMap(([name, element]): SchemaElement[] => [
    { name, repetition_type, converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type, ...element },
  ]);
  return [{ name: 'root', num_children: Object.keys(TYPES).length + Object.keys(LISTS).length }, ...flat, ...lists];
}

interface Writing {
  readonly gaps: boolean;
  readonly codec: CompressionCodec;
  readonly pageSize: number;
  readonly rowGroupSize: number;
  readonly encoding: Encoding | undefined;
}

function written(rows: readonly Record<string, unknown>[], { gaps, encoding, rowGroupSize, ...rest }: Writing) {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema: elements(gaps), compressors, ...rest });
  const names = [...Object.keys(TYPES), ...Object.keys(LISTS)];
  const columnData = names.map((name): ColumnSource => {
    const hasEncoding = encoding !== undefined && TYPES[name] !== 'BOOLEAN';
    return { name, data: rows.map((row) => row[name]), ...(hasEncoding && { encoding }) };
  });
  void parquet.write({ columnData, rowGroupSize });
  void parquet.finish();
  return writer.getBytes();
}

/** Row groups that came as objects, of the quick reading that `read` does. */
async function byRows(read: () => Promise<unknown>): Promise<number> {
  const { rows } = ParquetFile.prototype;
  let count = 0;
  ParquetFile.prototype.rows = function (...given) {
    count++;
    return rows.apply(this, given);
  };
  try {
    await read();
  } finally {
    ParquetFile.prototype.rows = rows;
  }
  return count;
}

t.test('batches that are decoded from pages are those of rows as objects', async (t) => {
  const dir = t.testdir({});
  for (let seed = 1; seed <= rounds({ quick: 12, deep: 60 }); seed++) {
    const random = new MersenneTwister(seed);
    const pick: Pick = (list) => list[random.nextU32() % list.length]!;
    const gaps = seed % 2 === 0;
    const rows = Array.from({ length: pick([1, 7, 300, 2500]) }, (_, row) => cells(pick, row, gaps));
    const file = join(dir, `${seed}.parquet`);
    const encoding = pick([undefined, undefined, 'PLAIN' as const]);
    const writing = { gaps, encoding, codec: pick(CODECS), pageSize: pick([50, 3000, 1 << 20]) };
    const options = { ...writing, rowGroupSize: pick([100, 1000, 10_000]) };
    writeFileSync(file, written(rows, options));
    const all = Dataset.from(file) as Dataset;
    const made = all.split({ test: 0.2, by: pick(['row', 'name', 'int64', 'bool', 'double']) }).train;
    for (const data of [all, made.shuffle(200, { seed }).take(60) as Dataset]) {
      let found!: Awaited<ReturnType<typeof quick>>;
      const left = await byRows(async () => {
        found = await quick(data, EVERYTHING, { batchSize: 64 });
      });
      const label = `seed ${seed}, ${JSON.stringify(options)}`;
      t.same(found.batches, await slow(data, EVERYTHING, 64), label);
      t.equal(found.report.badRows, 0);
      t.equal(left, 0, `${label} comes without a row as an object`);
    }
  }
});

/** Fields over the columns of test/fixtures/parquet. */
const ARROW = defineSchema({
  id: f.id({ from: 'int64' }),
  unsigned: f.id({ from: 'uint64' }),
  large: f.number({ from: 'uint64' }),
  half: f.number({ from: 'uint32' }),
  byte: f.id({ from: 'int8' }),
  x: f.number({ from: 'float' }),
  y: f.number({ from: 'double', default: 3, map: signedLog }),
  whole: f.id({ from: 'double' }),
  flag: f.id({ from: 'bool' }),
  on: f.number({ from: 'bool', map: signedLog }),
  name: f.id(),
  words: f.ids({ from: 'name', split: ' ', map: lowerCase }),
  list: f.ids({ max: 5 }),
  tags: f.ids(),
  micros: f.time(),
  nanos: f.time(),
  liked: f.label({ from: 'rating', rule: '>3.4999' }),
}) as unknown as Schema<Features>;

t.test('files of pyarrow are read alike, those of other encodings by hyparquet', async (t) => {
  for (const [name, groups] of Object.entries({ 'arrow-v1': 0, 'arrow-v2': 0, 'arrow-other': 2 })) {
    const data = Dataset.from(join(FIXTURES, `${name}.parquet`)) as Dataset;
    let found!: Awaited<ReturnType<typeof quick>>;
    const left = await byRows(async () => {
      found = await quick(data, ARROW, { batchSize: 500 });
    });
    t.same(found.batches, await slow(data, ARROW, 500), name);
    t.equal(left, groups, `${name} has ${groups} row groups that come as objects`);
  }
});

t.test('a stream of Parquet goes on from a batch as if it had never stopped', async (t) => {
  const data = Dataset.from(join(FIXTURES, 'arrow-v1.parquet')).shuffle(300, { seed: 3 }) as Dataset;
  const { batches } = await quick(data, ARROW, { batchSize: 200, epochs: 2 });
  t.equal(batches.length, 2 * 8);
  t.notSame(batches[0], batches[8], 'each pass has an order of its own');
  for (const first of [1, 8, 13]) {
    t.same((await quick(data, ARROW, { batchSize: 200, epochs: 2, first })).batches, batches.slice(first));
  }
});

t.test('rows that cannot be encoded are told with their record, or left out and counted', async (t) => {
  const file = join(t.testdir({}), 'a.parquet');
  const clicks = Array.from({ length: 3000 }, (_, n) => (n === 1700 || n === 2500 ? null : n % 2));
  const users = clicks.map((_, n) => BigInt(n));
  const columnData: ColumnSource[] = [
    { name: 'user', data: users, type: 'INT64' },
    { name: 'click', data: clicks, type: 'INT32' },
  ];
  writeFileSync(file, new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2000 })));
  const schema = defineSchema({ user: f.id(), click: f.label() }) as unknown as Schema<Features>;
  await t.rejects(quick(Dataset.from(file) as Dataset, schema), {
    code: 'ML_DATA',
    message: /a\.parquet record 1700, byte \d+, column click: a label is missing/,
  });
  const { batches, report } = await quick(Dataset.from(file, { badRows: 'skip' }) as Dataset, schema, {
    batchSize: 4096,
  });
  t.equal(report.badRows, 2);
  const wanted = users.filter((user) => user !== 1700n && user !== 2500n);
  t.same(batches[0]!.feeds[0]!.values, BigInt64Array.from(wanted));
  const parted = Dataset.from(file, { badRows: 'skip' }).split({ test: 0.5, by: 'row' });
  const sides = await Promise.all(
    [parted.train, parted.test].map((side) => quick(side as Dataset, schema, { batchSize: 4096 })),
  );
  const both = sides.flatMap((side) => [...(side.batches[0]!.feeds[0]!.values as BigInt64Array)]);
  t.same(new Set(both), new Set(wanted), 'which side a row is on does not depend on those that were left out');
});

t.test('an estimator trains on Parquet as on the same rows in memory', async (t) => {
  const file = join(t.testdir({}), 'clicks.parquet');
  const rows = Array.from({ length: 300 }, (_, n) => ({ user: BigInt(n % 7), x: n % 11, click: n % 3 === 0 ? 1 : 0 }));
  const names = ['user', 'x', 'click'] as const;
  const columnData = names.map((name): ColumnSource => ({ name, data: rows.map((row) => row[name]) }));
  writeFileSync(file, new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 128 })));
  const schema = defineSchema({ user: f.id(), x: f.number(), click: f.label() });
  const losses: (number | null)[] = [];
  for (const data of [Dataset.from(file, schema), rows]) {
    const estimator = new Estimator(lr(schema), { threads: 1, batchSize: 32, seed: 1, deterministic: true });
    const { loss, step } = await estimator.train(data as never, { epochs: 2 });
    t.equal(step, 2 * 10);
    losses.push(loss);
    await estimator.close();
  }
  t.equal(losses[0], losses[1]);
});
