import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { Dataset } from '../../../src/data/dataset.js';
import { f } from '../../../src/data/fields.js';
import { type Feature, type Features, Schema } from '../../../src/data/schema.js';
import { quick } from '../../support/quick-batches.js';
import {
  bytesOf,
  dictionaryPage,
  firstPage,
  levels,
  prefixed,
  type RawColumn,
  rawParquet,
  runs,
} from './raw-parquet.js';

const ROWS = 10;
const IDS = bytesOf(BigInt64Array.from({ length: ROWS }, (_, n) => BigInt(n)));
const FIRST = firstPage(ROWS, 'PLAIN', IDS);
const DICTIONARY = dictionaryPage(ROWS, IDS);
const indices = (...values: number[]) => firstPage(ROWS, 'RLE_DICTIONARY', Uint8Array.of(4), runs(values, 4));
const tenOf = (value: number) => new Array<number>(ROWS).fill(value);
const TEXTS = Buffer.concat(tenOf(0).map(() => prefixed(Buffer.from('text'))));

interface Damage {
  readonly column: Partial<RawColumn>;
  readonly rows?: number;
  readonly feature?: Feature;
  readonly message: RegExp;
}

/** What is wrong with a page, in words, and how it is told. */
const DAMAGES: Readonly<Record<string, Damage>> = {
  'fewer rows than the group': { column: { pages: [FIRST] }, rows: 11, message: /end 1 rows early/ },
  'more rows than the group': { column: { pages: [FIRST] }, rows: 9, message: /a page of 10 rows where 9 are left/ },
  'values that are cut off': {
    column: { pages: [firstPage(ROWS, 'PLAIN', IDS.subarray(0, 70))] },
    message: /values are cut off/,
  },
  'an index of no value': {
    column: { pages: [DICTIONARY, indices(...tenOf(1).slice(1), 10)] },
    message: /index 10 of a dictionary that has 10 values/,
  },
  'indices and no dictionary': { column: { pages: [indices(...tenOf(0))] }, message: /index 0 of .* has 0 values/ },
  'indices that end': {
    column: { pages: [DICTIONARY, firstPage(ROWS, 'RLE_DICTIONARY', Uint8Array.of(4, 9 << 1, 1))] },
    message: /indices are cut off/,
  },
  'indices of too many bits': {
    column: { pages: [DICTIONARY, firstPage(ROWS, 'RLE_DICTIONARY', Uint8Array.of(33, 20, 1))] },
    message: /indices of 33 bits/,
  },
  'a dictionary that is larger than its page': {
    column: { pages: [dictionaryPage(2 ** 30, IDS), indices(...tenOf(0))] },
    message: /a dictionary of 1073741824 values in 80 bytes/,
  },
  'a text that is longer than its page': {
    column: { type: 'BYTE_ARRAY', pages: [firstPage(ROWS, 'PLAIN', Uint8Array.of(255, 255, 255, 255, 65), TEXTS)] },
    message: /texts are cut off/,
  },
  'levels that are longer than their page': {
    column: { repetition: 'OPTIONAL', pages: [firstPage(ROWS, 'PLAIN', Uint8Array.of(255, 0, 0, 0, 20, 1), IDS)] },
    message: /levels of 255 bytes where 82 are left/,
  },
  'levels that end': {
    column: { repetition: 'OPTIONAL', pages: [firstPage(ROWS, 'PLAIN', levels(tenOf(1).slice(1)), IDS)] },
    message: /levels are damaged/,
  },
  'levels of no meaning': {
    column: { repetition: 'OPTIONAL', pages: [firstPage(ROWS, 'PLAIN', prefixed(Uint8Array.of(20, 7)), IDS)] },
    message: /levels are damaged/,
  },
  'lists that begin in the middle': {
    column: {
      isList: true,
      pages: [firstPage(ROWS, 'PLAIN', levels(tenOf(1)), levels(tenOf(3), 2), IDS)],
    },
    feature: f.ids(),
    message: /levels are damaged/,
  },
  'a page that is cut off': {
    column: { pages: [{ ...FIRST, header: { ...FIRST.header, compressed_page_size: 1000 } }] },
    message: /a page of 1000 bytes is cut off/,
  },
  'more bytes than it says, as a bomb has them': {
    column: { codec: 'GZIP', pages: [{ ...FIRST, bytes: gzipSync(Buffer.alloc(1 << 24)), decodedBytes: IDS.length }] },
    message: /a page at byte \d+: .*(larger|more) than/,
  },
  'fewer bytes than it says': {
    column: { codec: 'GZIP', pages: [{ ...FIRST, bytes: gzipSync(IDS), decodedBytes: IDS.length + 1 }] },
    message: /80 bytes came out, not 81/,
  },
  'snappy that copies what is not there': {
    column: { codec: 'SNAPPY', pages: [{ ...FIRST, bytes: Uint8Array.of(80, 0xfe, 1, 0), decodedBytes: 80 }] },
    message: /what it has compressed is damaged/,
  },
  'pages that are not in the file': {
    column: { pages: [FIRST], said: { total_compressed_size: 100_000n } },
    message: /from byte \d+ to 100\d+ of/,
  },
};

t.test('a damaged page is told with file, row group and column', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'a.parquet');
  const good: RawColumn = { name: 'ok', type: 'INT64', pages: [FIRST] };
  for (const [what, { column, rows = ROWS, feature = f.id(), message }] of Object.entries(DAMAGES)) {
    const bad: RawColumn = { name: 'bad', type: 'INT64', pages: [], ...column };
    const schema = new Schema({ bad: feature }) as Schema<Features>;
    writeFileSync(file, rawParquet(rows, [good, bad]));
    const error = await quick(Dataset.from(file) as Dataset, schema).then(
      () => t.fail(what),
      (thrown: unknown) => thrown,
    );
    t.match(error, { code: 'ML_DATASET', message }, what);
    t.match(error, { message: /a\.parquet as Parquet: row group 0.*column/ }, what);
    if (what !== 'pages that are not in the file') t.match(error, { fields: { file, rowGroup: 0, column: 'bad' } });
  }
});

t.test('a footer that claims what it does not have takes no memory', async (t) => {
  const file = join(t.testdir({}), 'a.parquet');
  // Lists of lists, each of which says that it has 33 million values.
  const nested = Buffer.concat([Uint8Array.of(0x29), ...tenOf(0).map(() => Uint8Array.of(0xf9, 255, 255, 255, 15))]);
  const tail = Buffer.from('....PAR1');
  tail.writeUInt32LE(nested.length);
  writeFileSync(file, Buffer.concat([Buffer.from('PAR1'), nested, tail]));
  const schema = new Schema({ x: f.id() }) as Schema<Features>;
  const before = process.memoryUsage().rss;
  await t.rejects(quick(Dataset.from(file) as Dataset, schema), { code: 'ML_DATASET', message: /cut off/ });
  t.ok(process.memoryUsage().rss - before < 128 << 20);
});

t.test('a column that is not there is told with the nearest name', async (t) => {
  const file = join(t.testdir({}), 'a.parquet');
  writeFileSync(file, rawParquet(ROWS, [{ name: 'usr', type: 'INT64', pages: [FIRST] }]));
  const schema = new Schema({ user: f.id() }) as Schema<Features>;
  await t.rejects(quick(Dataset.from(file) as Dataset, schema), { code: 'ML_COLUMN', hint: /usr/ });
});

t.test('pages of the first version, with all that is in them', async (t) => {
  const file = join(t.testdir({}), 'a.parquet');
  const present = [1, 0, 1, 1, 1, 0, 1, 1, 1, 1];
  const floats = bytesOf(Float64Array.of(0, 1, 2, 3, 4, 5, 6, 7));
  const lists = firstPage(
    ...([ROWS + 3, 'RLE_DICTIONARY'] as const),
    levels([0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    levels([3, 3, 2, 3, 0, 1, 3, 3, 3, 3, 3, 3, 3], 2),
    ...[Uint8Array.of(4), runs([5, 6, 7, 1, 1, 1, 1, 1, 1, 1], 4)],
  );
  writeFileSync(
    file,
    rawParquet(ROWS, [
      { name: 'x', type: 'DOUBLE', repetition: 'OPTIONAL', pages: [firstPage(ROWS, 'PLAIN', levels(present), floats)] },
      { name: 'id', type: 'INT64', pages: [DICTIONARY, indices(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)] },
      { name: 'many', type: 'INT64', isList: true, pages: [DICTIONARY, lists] },
    ]),
  );
  const schema = new Schema({ x: f.number({ default: -1 }), id: f.id(), many: f.ids() }) as Schema<Features>;
  const { batches } = await quick(Dataset.from(file) as Dataset, schema, { batchSize: ROWS });
  const [x, id, many] = batches[0]!.feeds;
  t.same(x!.values, Float32Array.of(0, -1, 1, 2, 3, -1, 4, 5, 6, 7));
  t.same(id!.values, BigInt64Array.of(9n, 8n, 7n, 6n, 5n, 4n, 3n, 2n, 1n, 0n));
  t.match(many, { splits: Int32Array.of(0, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10) });
  t.same(many!.values.slice(0, 4), BigInt64Array.of(5n, 6n, 7n, 1n));
});
