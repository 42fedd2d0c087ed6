import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { Dataset } from '../../../src/data/dataset.js';
import { f } from '../../../src/data/fields.js';
import { lowerCase, signedLog } from '../../../src/data/known-functions.js';
import { defineSchema, dense, type Features, ragged, type Schema } from '../../../src/data/schema.js';
import { quick, slow } from '../../support/quick-batches.js';
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
  kind: f.label({ positive: ['yes', '1', 'true'] }),
  grade: f.label({ classes: ['a', 'b', '3'] }),
}) as unknown as Schema<Features>;

const LONG = JSON.stringify(
  'a text of more than sixty-four bytes, which is hashed in another way than shorter ones are',
);
const NAMES = ['"Anna"', '"Ünal"', '"日本 語"', '""', '"WORDS of a Text"', '"12345678"', '" 7"', LONG, 'null', '42'];
const ESCAPED = ['"a\\"b"', '"\\u00e9\\n\\t"', '"\\ud834\\udd1e x"', '"\\ud834"', '"\\/\\\\\\b\\f\\r"', '"\\u0041BC"'];
/** What cells may be, as they are written. */
const POOL: Readonly<Record<string, readonly string[]>> = {
  id: [
    ...['0', '-5', '42', '007'].map((id) => JSON.stringify(id)),
    ...['0', '-5', '42', '-0', '1.0', '1e3', '9007199254740993', '-9223372036854775808', '18446744073709551615'],
    ...['18446744073709551616', '123456789012345', '1234567890123456', 'true', 'false', 'null', '""', LONG],
    ...ESCAPED,
  ],
  name: [...NAMES, ...ESCAPED],
  many: [
    '[]',
    '[1, 2,3,4]',
    '[9007199254740993, "9007199254740993", -1]',
    '["a|b", "", " c", null, "d"]',
    '"1|2|3|4"',
    '" a | b "',
    '"|"',
    'null',
    '7',
    '12345678901234567890',
    '[1.0, 2e2]',
    '[ "\\u0061", "\\ud834" ]',
    '[1,2,3,{"what":[true]},[[]]]',
  ],
  weighted: [
    '[[1, 0.5], [2, 3], ["a", null], [null, 2], ["", 1], [5]]',
    '[[12345678901234567, 1e2]]',
    '["a: 2", " b :1", "c", ":3", "d:", " e"]',
    '"1:0.5 2:3"',
    '[1, 2]',
    'null',
    '[]',
    '3',
  ],
  plain: ['[1,2,3]', '["a,b"]', '"a,b"', 'null', '[true]'],
  x: ['1.5', '-0', '1e-30', '0.1', '5', '-1152921504606846977', '1234567890123456', '"2.5"', '"0x10"', '" 7 "', '""'],
  wide: ['[1, 2.5, null]', '[ 1e2 ,-0 , 1152921504606846977 ]', 'null', '["1", true, 3]'],
  vector: ['[1,2]', '[0.1,-1e-3]'],
  pair: ['[1,-2]', '[9223372036854775807, 0]', '["6", "-7"]', '[1.0, 2]'],
  when: ['1260759144', '0', '-5', '1.5', '-1.5', '4503599627370496', '"1260759144"', '"2009-12-14T02:52:24Z"', 'true'],
  n: ['1', '-9223372036854775808', '"-2"', '12.0', '" 5"'],
  rating: ['3.5', '3.4', '4', '"3.49"', 'true'],
  kind: ['"yes"', '" no "', '1', '-1', '1.5', 'true', '1.0'],
  grade: ['"a"', '" b"', '3', '"\\u0061"'],
  extra: ['{"a":[1,{"b":"}"}],"c":null}', '[[],{}]', '"x"', '1e-1234567890123456', 'false', '12345678901234567890'],
};
const OPTIONAL = ['id', 'name', 'many', 'weighted', 'plain', 'x', 'wide', 'extra'];

function table(seed: number, rows: number, newline: string): string {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % limit;
  };
  const names = Object.keys(POOL);
  const lines = Array.from({ length: rows }, () => {
    const order = below(3) === 0 ? names.toSorted(() => below(3) - 1) : names;
    const cells = order.flatMap((name) => {
      const pool = POOL[name]!;
      if (OPTIONAL.includes(name) && below(8) === 0) return [];
      const written =
        below(40) === 0 ? `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"` : `"${name}"`;
      const some = below(30) === 0 ? 2 : 1;
      return Array.from({ length: some }, () => `${written}:${below(4) === 0 ? ' ' : ''}${pool[below(pool.length)]}`);
    });
    const line = `{${cells.join(below(2) === 0 ? ',' : ' , ')}}`;
    return below(10) === 0 ? ` \t${line} ${below(2) === 0 ? newline : ''}` : line;
  });
  return lines.join(newline);
}

t.test('batches that are decoded from lines of JSON are those of rows as objects', async (t) => {
  const dir = t.testdir({});
  for (let seed = 1; seed <= rounds({ quick: 6, deep: 60 }); seed++) {
    const file = join(dir, `t${seed}.jsonl`);
    const text = table(seed, 150, seed % 2 === 0 ? '\n' : '\r\n');
    const bytes = seed % 3 === 0 ? `\uFEFF${text}` : text;
    writeFileSync(file, seed % 4 === 0 ? gzipSync(bytes) : bytes);
    const all = Dataset.from(file);
    const made = all.split({ test: 0.2, by: seed % 2 === 0 ? 'row' : 'id' }).train.shuffle(20, { seed });
    for (const rows of [all, made.take(60)]) {
      const { batches } = await quick(rows as Dataset, EVERYTHING);
      t.same(batches, await slow(rows as Dataset, EVERYTHING), `seed ${seed}`);
    }
  }
});

const SMALL = defineSchema({ user: f.id(), x: f.number(), click: f.label() }) as unknown as Schema<Features>;

/** What both ways make of a file: batches or an error. */
async function both(file: string): Promise<[unknown, unknown]> {
  const [first, second] = await Promise.all(
    [quick, slow].map((read) =>
      read(Dataset.from(file) as Dataset, SMALL).then(
        (found) => ('batches' in found ? found.batches : found),
        ({ code, fields: { where, column, reason } }) => ({ code, where, column, reason }),
      ),
    ),
  );
  return [first, second];
}

t.test('a line that is no JSON, or a value that does not fit, is told as the slow way tells it', async (t) => {
  const file = join(t.testdir({}), 'bad.jsonl');
  const good = '{"user":1,"x":2,"click":0}\n'.repeat(20);
  const lines = [
    '{"user":1,"x":"abc","click":1}',
    '{"user":1.5,"x":1,"click":1}',
    '{"user":1,"x":[1],"click":1}',
    '{"user":1,"x":1e40,"click":1}',
    '{"user":{"a":1},"x":1,"click":1}',
    '{"user":1,"x":1,"click":null}',
    '{"user":1,"x":1}',
    '{"user":1,"x":01,"click":1}',
    '{"user":1,"x":1.,"click":1}',
    '{"user":1,"x":+1,"click":1}',
    '{"user":1,"x":1,"click":1,}',
    '{"user":1,"x":1,"click":1',
    '{"user":1,"x":1,"click":1}}',
    '{"user":1,"x":1,"click":1} x',
    '{"user":"a\tb","x":1,"click":1}',
    '{"user":"a\\x","x":1,"click":1}',
    '{"user":1 "x":1,"click":1}',
    '{user:1,"x":1,"click":1}',
    '{"user":1,"x":1,"click":1,"other":[1,}',
    '{"user":1,"x":1,"click":1,"other":{"a"}}',
    '{"user":1,"x":1,"click":1,"other":nul}',
    '{"user":1,"x":1,"click":1,"__proto__":{}}',
    '[1,2,3]',
    'what',
  ];
  for (const line of lines) {
    writeFileSync(file, `${good}${line}\n${good}`);
    const [one, other] = await both(file);
    t.same(one, other, line);
    t.match(one, { code: 'ML_DATA', where: /bad\.jsonl line 21, byte 540$/ }, line);
  }
  writeFileSync(file, `${good}${lines.join('\n')}\n${good}`);
  const { batches, report } = await quick(Dataset.from(file, { badRows: 'skip' }) as Dataset, SMALL);
  t.equal(report.badRows, lines.length);
  t.equal(
    batches.reduce((sum, { rows }) => sum + rows, 0),
    40,
  );
});

t.test('lines of any bytes give what the slow way gives', async (t) => {
  const file = join(t.testdir({}), 'any.jsonl');
  let state = 1;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % limit;
  };
  const plain = '{"user": "u\\u0031", "x": -1.5e1, "click": 1, "o": [{"a": [true, null]}, "é"]}';
  const signs = Buffer.from('{}[]",:\\-+.eE0123456789utfn \t\r\u00e9a');
  for (let round = 0; round < rounds({ quick: 150, deep: 1500 }); round++) {
    const lines = Array.from({ length: 6 }, () => Buffer.from(plain));
    const line = lines[1 + below(5)]!;
    line[below(line.length)] = below(3) === 0 ? below(256) : signs[below(signs.length)]!;
    writeFileSync(file, Buffer.concat(lines.flatMap((one) => [one, Buffer.from('\n')])));
    const [one, other] = await both(file);
    if (JSON.stringify(one, asText) !== JSON.stringify(other, asText)) t.same(one, other, line.toString());
  }
  t.pass('all rounds');
});

const asText = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

t.test('a name that none of the first lines has is ML_COLUMN, one that some lack is missing there', async (t) => {
  const file = join(t.testdir({}), 'columns.jsonl');
  writeFileSync(file, '{"usr":1,"x":1,"click":1}\n');
  await t.rejects(quick(Dataset.from(file) as Dataset, SMALL), { code: 'ML_COLUMN', hint: /usr/ });
  writeFileSync(file, `${'{"click":1}\n'.repeat(30)}{"user":1,"x":2,"click":0}`);
  const [one, other] = await both(file);
  t.same(one, other);
  writeFileSync(file, '');
  await t.rejects(quick(Dataset.from(file) as Dataset, SMALL), { code: 'ML_DATASET', message: /empty/ });
  const long = JSON.stringify('a'.repeat(3 << 20));
  writeFileSync(file, `{"user":1,"x":2,"click":0}\n{"user":${long},"o":${long},"x":2,"click":0}\n\n`.repeat(3));
  t.same(...(await both(file)), 'lines longer than what is read at once');
});
