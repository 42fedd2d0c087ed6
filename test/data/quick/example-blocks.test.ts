import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { Dataset } from '../../../src/data/dataset.js';
import { f } from '../../../src/data/fields.js';
import { lowerCase, signedLog } from '../../../src/data/known-functions.js';
import { defineSchema, dense, type Features, ragged, type Schema } from '../../../src/data/schema.js';
import { quick, slow } from '../../support/quick-batches.js';
import { bytesField, example, type Form, floats, ints, recordFile, texts, varint } from '../../support/raw-examples.js';
import { rounds } from '../../support/rounds.js';

const EVERYTHING = defineSchema({
  id: f.id(),
  text: f.id({ from: 'name' }),
  lower: f.id({ from: 'name', map: lowerCase }),
  many: f.ids({ split: '|', max: 3 }),
  weighted: f.ids({ split: ' ', max: 4, weights: ':' }),
  plain: ragged.i64({ valuesPerRow: 4 }),
  words: f.ids({ from: 'name', split: ' ', map: lowerCase }),
  x: f.number(),
  y: f.number({ from: 'x', default: 7, map: signedLog }),
  wide: f.number({ width: 3 }),
  vector: dense.f32({ width: 2 }),
  pair: dense.i64({ width: 2 }),
  when: f.time(),
  ms: f.time({ from: 'when', unit: 'ms' }),
  n: f.int(),
  rating: f.label({ rule: '>=3.5' }),
  kind: f.label({ positive: ['yes', '1'] }),
  grade: f.label({ classes: ['a', 'b', '3'] }),
}) as unknown as Schema<Features>;

const LONG = 'a text of more than sixty-four bytes, which is hashed in another way than those that are shorter are';
const FORMS: readonly Form[] = ['packed', 'each', 'mixed'];
const forms = (make: (form: Form) => Buffer): Buffer[] => FORMS.map(make);
const EMPTY = [Buffer.alloc(0), bytesField(1, Buffer.alloc(0)), ints([]), floats([])];
const BROKEN = Uint8Array.of(0x61, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xff);
const NAMES = ['Anna', 'Ünal', '日本 語', '', 'WORDS of a Text', '12345678', '𝄞', LONG, ' 7'].map((name) =>
  texts([name]),
);
const MANY = [[1], [1, 2], [-1, 2n ** 63n - 1n, 3, 4, 5], [0, 0]];

/** What features may be; of those without an empty one something has to be there. */
const POOL: Readonly<Record<string, readonly Buffer[]>> = {
  id: [
    ...[0, -5, 42, 2n ** 63n - 1n, -(2n ** 63n)].map((id) => ints([id])),
    ...[3, -7, Number.NaN, 2 ** 24, -0].map((id) => floats([id])),
    ...['42', '-5', '007', 'abc', '18446744073709551615', LONG].map((id) => texts([id])),
    ints([300], 'each'),
    floats([300], 'each'),
    texts([BROKEN]),
    ...EMPTY,
  ],
  name: [...NAMES, texts([BROKEN]), ints([7]), ...EMPTY],
  many: [
    ...MANY.flatMap((list) => forms((form) => ints(list, form))),
    ...forms((form) => floats([1, Number.NaN, 3, 4, 5], form)),
    ...['1|2|3|4', ' a | b ', '|', '\u00a0x|y'].map((text) => texts([text])),
    texts(['a|b', '', ' c', 'd', 'e']),
    texts(['ok', BROKEN]),
    ints(Array.from({ length: 5000 }, (_, n) => n)),
    ...EMPTY,
  ],
  weighted: [
    ints([1, 2, 3, 4, 5]),
    floats([1, 2]),
    texts(['1:0.5 2:3']),
    texts(['a: 2', ' b :1', 'c', ':3', 'd:', ' e']),
    texts(['4']),
    ...EMPTY,
  ],
  plain: [ints([1, 2, 3]), texts(['a,b']), ...EMPTY],
  x: [
    ...[1.5, Number.NaN, -0, 1e-30, 0.1].map((x) => floats([x])),
    ...[5, -(2n ** 60n) - 1n].map((x) => ints([x])),
    ...['2.5', '1e3', '0x10', ' 7 ', '', '3e-7'].map((x) => texts([x])),
    ...EMPTY,
  ],
  wide: [
    ...forms((form) => floats([1, Number.NaN, 3], form)),
    ints([1, -2, 2n ** 60n]),
    texts(['1', '2', '3']),
    ...EMPTY,
  ],
  vector: [floats([1, 2]), ints([3, 4], 'each')],
  pair: [ints([1, -2]), ints([2n ** 63n - 1n, 0], 'mixed'), floats([4, 5]), texts(['6', '-7'])],
  when: [
    ...[1260759144, 0, -5, 2n ** 52n].map((time) => ints([time])),
    floats([1.5]),
    floats([-1.5]),
    ...['1260759144', '1260759144.9', '-7', '2009-12-14T02:52:24Z'].map((time) => texts([time])),
  ],
  n: [ints([1]), ints([-(2n ** 63n)]), texts(['-2']), floats([12])],
  rating: [floats([3.5]), floats([3.4]), ints([4]), texts(['3.49'])],
  kind: [texts(['yes']), texts([' no ']), ints([1]), ints([-1]), floats([1])],
  grade: [texts(['a']), texts([' b']), ints([3])],
};
const OPTIONAL = ['id', 'name', 'many', 'weighted', 'plain', 'x', 'wide'];

function payloads(seed: number, count: number): Buffer[] {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % limit;
  };
  const names = [...Object.keys(POOL), 'extra', 'other'];
  return Array.from({ length: count }, () => {
    const order = below(3) === 0 ? names.toSorted(() => below(3) - 1) : names;
    const features = order.flatMap((name): [string, Buffer][] => {
      const pool = POOL[name] ?? POOL.name!;
      if (OPTIONAL.includes(name) && below(8) === 0) return [];
      const some = below(30) === 0 ? 2 : 1;
      return Array.from({ length: some }, () => [name, pool[below(pool.length)]!]);
    });
    const made = example(features);
    // Fields that nobody knows, and messages in parts.
    if (below(20) === 0) return Buffer.concat([made, bytesField(9, Buffer.from('x')), varint(8 * 7), varint(300)]);
    return below(20) === 0 ? Buffer.concat([example(features.slice(0, 5)), made]) : made;
  });
}

t.test('batches that are decoded from records are those of rows as objects', async (t) => {
  const dir = t.testdir({});
  const packed = [(bytes: Buffer) => bytes, gzipSync, (bytes: Buffer) => deflateSync(bytes, { level: 6 })];
  for (let seed = 1; seed <= rounds({ quick: 6, deep: 60 }); seed++) {
    const file = join(dir, `t${seed}.tfrecord`);
    writeFileSync(file, packed[seed % packed.length]!(recordFile(payloads(seed, 150))));
    const all = Dataset.from(file);
    const made = all.split({ test: 0.2, by: seed % 2 === 0 ? 'row' : 'id' }).train.shuffle(20, { seed });
    for (const rows of [all, made.take(60)]) {
      const { batches } = await quick(rows as Dataset, EVERYTHING);
      t.same(batches, await slow(rows as Dataset, EVERYTHING), `seed ${seed}`);
    }
  }
});

const SMALL = defineSchema({ user: f.id(), x: f.number(), click: f.label() }) as unknown as Schema<Features>;
const small = (user: number, x: Buffer) =>
  example([
    ['user', ints([user])],
    ['x', x],
    ['click', floats([user % 2])],
  ]);

/** The error of both ways. */
async function errors(file: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const read of [quick, slow]) {
    const error = await read(Dataset.from(file) as Dataset, SMALL).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const { code, fields } = error as { code: string; fields: Record<string, unknown> };
    const { row: _, ...rest } = fields;
    found.push({ code, ...rest });
  }
  return found;
}

t.test('a value that does not fit, and a record that is no example, are told as the slow way tells them', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'bad.tfrecord');
  const good = Array.from({ length: 20 }, (_, n) => small(n, floats([n])));
  const bad = [texts(['abc']), floats([1, 2]), floats([Number.POSITIVE_INFINITY]), texts(['1', '2'])].map((x) =>
    small(3, x),
  );
  for (const payload of [...bad, Buffer.from([0x0a, 0x05, 1]), example([['user', ints([1])]]), Buffer.alloc(0)]) {
    writeFileSync(file, recordFile([...good, payload, ...good]));
    const [one, other] = await errors(file);
    t.same(one, other);
    t.match(one, { code: 'ML_DATA', where: /bad\.tfrecord record 20, byte \d+$/ });
  }
  writeFileSync(file, recordFile([...good, bad[0]!, Buffer.from([0x0a, 0x05, 1]), ...good]));
  const { batches, report } = await quick(Dataset.from(file, { badRows: 'skip' }) as Dataset, SMALL);
  t.equal(report.badRows, 2);
  t.equal(
    batches.reduce((sum, { rows }) => sum + rows, 0),
    40,
  );
});

t.test('a file that is cut, or of which bytes changed, gives the same error both ways, or none', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'cut.tfrecord');
  const whole = recordFile(Array.from({ length: 5 }, (_, n) => small(n, floats([n]))));
  const step = rounds({ quick: 7, deep: 2 });
  for (let bytes = 0; bytes < whole.length; bytes += step) {
    writeFileSync(file, whole.subarray(0, bytes));
    const [one, other] = bytes % (whole.length / 5) === 0 && bytes > 0 ? [1, 1] : await errors(file);
    t.same(one, other, `${bytes} bytes`);
  }
  for (let at = 0; at < whole.length; at += step) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 1 << (at % 8);
    writeFileSync(file, changed);
    const [one, other] = await errors(file);
    t.same(one, other, `byte ${at}`);
    t.match(one, { code: 'ML_RECORD', file, record: Math.floor((5 * at) / whole.length) });
  }
});

const SMALL_NAMES = ['user', 'x', 'click'];

t.test('payloads of any bytes give what the slow way gives', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'any.tfrecord');
  let state = 1;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % limit;
  };
  const plain = Array.from({ length: 9 }, (_, n) => small(n, floats([n])));
  for (let round = 0; round < rounds({ quick: 150, deep: 1500, variable: 'MONOLITH_EXAMPLES' }); round++) {
    const changed = plain.map((payload) => Buffer.from(payload));
    const one = changed[1 + below(8)]!;
    one[below(one.length)] = below(256);
    writeFileSync(file, recordFile(changed));
    const ways = [quick, slow].map((read) =>
      read(Dataset.from(file) as Dataset, SMALL).then(
        (found) => ('batches' in found ? found.batches : found),
        ({ code, fields: { where, column, reason } }) => ({ code, where, column, reason }),
      ),
    );
    const [first, second] = await Promise.all(ways);
    // What a feature holds that no column asks for is skipped; rows as objects have all features.
    const isNamed = SMALL_NAMES.every((name) => one.includes(Buffer.from([0x0a, name.length, ...Buffer.from(name)])));
    if (!isNamed && Array.isArray(first) && !Array.isArray(second)) continue;
    if (JSON.stringify(first, text) !== JSON.stringify(second, text)) t.same(first, second, `round ${round}`);
  }
  t.pass('all rounds');
});

const text = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

t.test('a column that none of the first records has is ML_COLUMN, one that some lack is missing there', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'columns.tfrecord');
  writeFileSync(file, recordFile([example([['usr', ints([1])]])]));
  await t.rejects(quick(Dataset.from(file) as Dataset, SMALL), { code: 'ML_COLUMN', hint: /usr/ });
  const without = example([['click', floats([1])]]);
  writeFileSync(file, recordFile([...Array.from({ length: 30 }, () => without), small(1, floats([2]))]));
  const { batches } = await quick(Dataset.from(file) as Dataset, SMALL);
  t.same(batches, await slow(Dataset.from(file) as Dataset, SMALL));
  writeFileSync(file, '');
  await t.rejects(quick(Dataset.from(file) as Dataset, SMALL), { code: 'ML_DATASET', message: /empty/ });
});

t.test('records that are larger than what is read at once, and many of them', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'large.tfrecord');
  const large = (n: number) =>
    example([
      ['user', ints([n])],
      ['blob', texts([Buffer.alloc(n % 40 === 3 ? 3 << 20 : 100, 0x61)])],
      ['x', floats([n])],
      ['click', ints([1])],
    ]);
  writeFileSync(file, '');
  for (let n = 0; n < 100; n++) appendFileSync(file, recordFile([large(n)]));
  const rows = Dataset.from(file) as Dataset;
  t.same((await quick(rows, SMALL)).batches, await slow(rows, SMALL));
});
