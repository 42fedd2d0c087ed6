import t from 'tap';
import { idOf, MISSING_ID } from '../../src/data/cells.js';
import { type EncodeOptions, encodeRows } from '../../src/data/encode-rows.js';
import { textId } from '../../src/data/farmhash.js';
import { MISSING_NUMBER } from '../../src/data/field.js';
import { f } from '../../src/data/fields.js';
import { defineSchema, dense, type Features, ragged, type Schema } from '../../src/data/schema.js';

/** Feeds of rows that the compiler need not know, and what of them is looked at. */
function encode(schema: Schema<Features>, rows: readonly object[], options: EncodeOptions = {}) {
  return encodeRows(schema, rows as never, options).feeds as Readonly<Record<string, Float32Array>>;
}
const encodeOne = (feature: Features[string], cells: readonly unknown[], options: EncodeOptions = {}) =>
  encode(
    defineSchema({ x: feature }) as Schema<Features>,
    cells.map((x) => ({ x })),
    options,
  ).x;

t.test('ids are whole numbers as they are and fingerprints of any other text', async (t) => {
  const cells = [7, 7n, '7', -1, '-1', 2n ** 64n - 1n, '18446744073709551615', '9223372036854775807', 'u7', '07', true];
  const ids = encodeOne(f.id(), cells) as unknown as BigInt64Array;
  t.same([...ids], [7n, 7n, 7n, -1n, -1n, -1n, -1n, 2n ** 63n - 1n, textId('u7'), textId('07'), textId('true')]);
  t.same(
    encodeOne(f.id(), [null, undefined, '', Number.NaN]),
    BigInt64Array.of(MISSING_ID, MISSING_ID, MISSING_ID, MISSING_ID),
  );
  t.equal(
    textId('99999999999999999999'),
    idOf('99999999999999999999', (reason) => new Error(reason) as never),
  );
  t.same(
    encodeOne(f.id({ map: (cell) => String(cell).slice(0, 2) }), ['ab1', 'ab2', '']),
    BigInt64Array.of(textId('ab'), textId('ab'), MISSING_ID),
  );
});

t.test('many ids come of lists and of texts, with a bound', async (t) => {
  const cells = ['Crime|Drama', ['Crime', 5], [], '', null, 'a| b ||c', BigInt64Array.of(1n, 2n), 9];
  const many = encodeOne(f.ids({ split: '|' }), cells) as unknown as { splits: Int32Array; values: BigInt64Array };
  t.same([...many.splits], [0, 2, 4, 4, 4, 4, 7, 9, 10]);
  const [crime, drama, a, b, c] = ['Crime', 'Drama', 'a', 'b', 'c'].map(textId);
  t.same([...many.values], [crime, drama, crime, 5n, a, b, c, 1n, 2n, 9n]);
  const two = encodeOne(f.ids({ max: 2 }), [[1, 2, 3], '4,5,6']) as unknown as { values: BigInt64Array };
  t.same([...two.values], [1n, 2n, 4n, 5n]);
});

t.test('weights stand beside the ids or in a column of their own', async (t) => {
  const beside = encode(defineSchema({ x: f.ids({ split: '|', weights: ':', max: 3 }) }) as Schema<Features>, [
    { x: 'a:0.5|b' },
    { x: [['a', 2], 'c:x:3'] },
  ]);
  t.same([...beside['x/weights']!], [0.5, 1, 0, 2, 3, 0]);
  t.same(
    [...(beside.x as unknown as { values: BigInt64Array }).values],
    [textId('a'), textId('b'), textId('a'), textId('c:x')],
  );
  const schema = defineSchema({ x: f.ids({ weights: { from: 'w' }, max: 2 }) }) as Schema<Features>;
  t.same(
    [
      ...encode(schema, [
        { x: [1, 2, 3], w: [0.1, 0.2, 0.3] },
        { x: '4', w: '9' },
      ])['x/weights']!,
    ].map((w) => Math.round(w * 10)),
    [1, 2, 90, 0],
  );
  t.throws(() => encode(schema, [{ x: [1, 2], w: [1] }]), {
    code: 'ML_DATA',
    message: 'row 0, column w: it has 1 weights for 2 ids',
  });
  t.same(schema.specs, [
    { name: 'x', kind: 'ragged' },
    { name: 'x/weights', kind: 'dense', width: 2 },
  ]);
});

t.test('numbers are read of texts and dates, mapped, and may be missing', async (t) => {
  t.same([...encodeOne(f.number(), [1, '2.5', ' 3 ', true, 4n])!], [1, 2.5, 3, 1, 4]);
  t.same(
    [...encodeOne(f.number(), [null, '', Number.NaN])!],
    [1, 2, 3].map(() => Math.fround(MISSING_NUMBER)),
  );
  t.same([...encodeOne(f.number({ default: -1 }), [null, 5])!], [-1, 5]);
  t.same([...encodeOne(f.number({ standardise: false }), [null, 5])!], [0, 5]);
  t.same([...encodeOne(f.number({ map: (s) => (s / 3600) % 24 }), [7200, '3600'])!], [2, 1]);
  const parse = (cell: unknown) => (cell as Date).getTime() / 1000;
  t.same([...encodeOne(f.number({ parse }), [new Date(5000), null])!].slice(0, 1), [5]);
  t.same([...encodeOne(f.number({ width: 2 }), [[1, 2], new Float32Array([3, 4])])!], [1, 2, 3, 4]);
});

t.test('a label is a number, a rule, a text or a class', async (t) => {
  t.same([...encodeOne(f.label(), [1, '0', true])!], [1, 0, 1]);
  t.same([...encodeOne(f.label({ rule: '>=3.5' }), [3, 3.5, '4'])!], [0, 1, 1]);
  t.same([...encodeOne(f.label({ rule: '= 2' }), [1, 2])!], [0, 1]);
  t.same([...encodeOne(f.label({ map: (r) => r / 5 }), [5])!], [1]);
  t.same([...encodeOne(f.label({ positive: '>50K' }), [' >50K', '<=50K'])!], [1, 0]);
  t.same([...encodeOne(f.label({ classes: ['a', 'b', 'c'] }), ['c', 'a'])!], [2, 0]);
});

t.test('times are seconds, milliseconds, dates and ISO texts', async (t) => {
  const times = encodeOne(f.time(), [1.9, '5', new Date(7000), '1970-01-01T00:00:09Z', 3n]) as unknown as BigInt64Array;
  t.same([...times], [1n, 5n, 7n, 9n, 3n]);
  t.same(encodeOne(f.time({ unit: 'ms' }), [4000, '4999']), BigInt64Array.of(4n, 4n));
  t.same(encodeOne(f.int(), ['12', 13, -1n]), BigInt64Array.of(12n, 13n, -1n));
});

t.test('features of floats and ids take raw values too', async (t) => {
  t.same([...encodeOne(dense.f32({ width: 2 }), [[1, '2']])!], [1, 2]);
  t.same(encodeOne(dense.i64({ width: 2 }), [[1, '2']]), BigInt64Array.of(1n, 2n));
  const { values } = encodeOne(ragged.i64({ valuesPerRow: 2 }), [[1n, 2]]) as unknown as { values: BigInt64Array };
  t.same([...values], [1n, 2n]);
});

t.test('what does not fit is told with row, column and value', async (t) => {
  const wrong: readonly [Features[string], unknown, RegExp, RegExp?][] = [
    [f.id(), 1.5, /row 0, column x: 1.5 is no id/, /texts of digits/],
    [f.id(), 2 ** 53, /9007199254740992 is no id/],
    [f.id(), 2n ** 64n, /more than 64 bits/],
    [f.id(), { a: 1 }, /an object with a is no id/],
    [f.ids(), { a: 1 }, /no list of ids/],
    [f.number(), 'n/a', /"n\/a" is not a number/],
    [f.number(), 1e300, /1e\+300 is not a number/],
    [f.number(), 'x'.repeat(99), /"x{60}"… is not a number/],
    [f.number({ map: Math.log }), 0, /map gives -Infinity for 0, no number/],
    [f.number({ parse: () => Number.NaN }), 'x', /parse gives NaN for "x"/],
    [f.number({ width: 2 }), [1], /1 values, not 2/],
    [f.number({ width: 2 }), 1, /no list of 2/],
    [f.label(), 'yes', /"yes" is not a number/, /positive: 'yes'/],
    [f.label(), null, /a label is missing/],
    [f.label({ classes: ['cat', 'dog'] }), 'cta', /"cta" is none of the classes/, /cat/],
    [f.time(), 'yesterday', /"yesterday" is no time/],
    [f.int(), 'x', /"x" is no whole number/],
    [dense.f32(), null, /null is not a number/],
  ];
  for (const [feature, cell, message, hint] of wrong) {
    t.throws(() => encodeOne(feature, [cell]), { code: 'ML_DATA', message, ...(hint && { hint }) });
  }
  t.throws(() => encodeOne(f.number(), [1, 2, 'x'], { firstRow: 40 }), {
    message: 'row 42, column x: "x" is not a number',
    fields: { row: 42, column: 'x' },
  });
  t.throws(() => encodeRows(defineSchema({ x: f.id() }), [3 as never]), { code: 'ML_DATA', message: /3 is no object/ });
});

t.test('columns go by name: a near name is named, more of them are fine', async (t) => {
  const schema = defineSchema({
    userId: f.id(),
    hour: f.number({ from: 'timestamp' }),
    when: f.time({ from: 'timestamp' }),
    click: f.label({ from: 'clicked' }),
  }) as Schema<Features>;
  const row = { more: 1, userId: 'u', timestamp: 60, clicked: 1 };
  t.same(Object.keys(encode(schema, [row])), ['userId', 'hour', 'when', 'click']);
  const { userId: _, ...without } = row;
  t.throws(() => encode(schema, [{ ...without, userID: 3 }]), {
    code: 'ML_COLUMN',
    message: 'row 0 has no column "userId"; it has more, timestamp, clicked, userID',
    hint: 'did you mean userID?',
  });
  t.throws(() => encode(schema, [without]), { code: 'ML_COLUMN' });
  t.throws(() => encode(schema, [{ ...without, userID: 3 }], { partial: true }), { code: 'ML_COLUMN', hint: /userID/ });
  t.same(encode(schema, [without], { partial: true }).userId, BigInt64Array.of(MISSING_ID));
  t.throws(() => encode(schema, [{ userId: 1, timestamp: 1 }]), { code: 'ML_COLUMN', fields: { column: 'clicked' } });
  t.same(Object.keys(encode(schema, [{ userId: 1, timestamp: 1 }], { labels: false })), ['userId', 'hour', 'when']);
  const timed = defineSchema({ userId: f.id(), at: f.time() });
  t.same(Object.keys(encodeRows(timed, [{ userId: 1 }], { labels: false }).feeds), ['userId'], 'no time to predict');
  t.same(encodeRows(timed, []).rows, 0);
});

t.test('options that are none are refused where they are given', async (t) => {
  const slips: [() => unknown, RegExp][] = [
    [() => f.id({ mincount: 2 } as never), /minCount/],
    [() => f.id({ minCount: 0 }), /^/],
    [() => f.ids({ weights: ':' } as never), /^/],
    [() => f.ids({ split: '' }), /^/],
    [() => f.ids({ max: 1.5 }), /^/],
    [() => f.number({ standardize: true } as never), /standardise/],
    [() => f.number({ map: 3 } as never), /^/],
    [() => f.label({ rule: 'rating>=3' }), />=3.5/],
    [() => f.label({ rule: '>=1', positive: 'x' }), /^/],
    [() => f.label({ classes: ['a'] }), /^/],
    [() => f.time({ unit: 'min' as never }), /^/],
    [() => f.id({ from: '' }), /^/],
    [() => encodeRows(defineSchema({ x: f.id() }), [], { lables: true } as never), /labels/],
  ];
  for (const [slip, hint] of slips) t.throws(slip, { code: 'ML_OPTION', ...(hint.source !== '^' && { hint }) });
});
