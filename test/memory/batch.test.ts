import fc from 'fast-check';
import t from 'tap';
import {
  type BatchData,
  type BatchSchema,
  bytesFor,
  type FeedData,
  readBatch,
  writeBatch,
} from '../../src/memory/batch.js';
import { Views } from '../../src/memory/views.js';

const views = new Views(new SharedArrayBuffer(1 << 20));
const SCHEMA: BatchSchema = [
  { name: 'label', kind: 'dense', width: 1 },
  { name: 'ids', kind: 'ragged' },
];

function ragged(lists: readonly (readonly bigint[])[]): FeedData {
  const splits = new Int32Array(lists.length + 1);
  lists.forEach((list, row) => {
    splits[row + 1] = splits[row]! + list.length;
  });
  return { kind: 'ragged', splits, values: BigInt64Array.from(lists.flat()) };
}

const dense = (...values: number[]): FeedData => ({ kind: 'dense', values: Float32Array.from(values) });

/** A schema and data that fits it. */
const anyBatch = fc
  .record({
    rows: fc.nat({ max: 9 }),
    feeds: fc.array(fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 5 })), { maxLength: 6 }),
  })
  .chain(({ rows, feeds }) =>
    fc.record({
      schema: fc.constant(
        feeds.map((width, i) =>
          width === null
            ? { name: `f${i}`, kind: 'ragged' as const }
            : { name: `f${i}`, kind: 'dense' as const, width },
        ),
      ),
      data: fc
        .tuple(
          ...feeds.map((width) =>
            width === null
              ? fc
                  .array(fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 4 }), {
                    minLength: rows,
                    maxLength: rows,
                  })
                  .map(ragged)
              : fc
                  .array(fc.float({ noNaN: true }), { minLength: rows * width, maxLength: rows * width })
                  .map((values) => dense(...values)),
          ),
        )
        .map((all): BatchData => ({ rows, feeds: all })),
    }),
  );

t.test('what is written is read back, in the bytes foretold', async (t) => {
  fc.assert(
    fc.property(anyBatch, fc.nat({ max: 50 }), ({ schema, data }, line) => {
      const counts = data.feeds.flatMap((feed) => (feed.kind === 'ragged' ? [feed.values.length] : []));
      const used = writeBatch(views, line * 64, schema, data);
      t.equal(used, bytesFor(schema, data.rows, counts));
      t.same(readBatch(views, line * 64, schema), data);
    }),
    { numRuns: 60 },
  );
});

t.test('the header holds rows, the pointer count and line-aligned addresses in feed order', async (t) => {
  const at = 128;
  writeBatch(views, at, SCHEMA, { rows: 2, feeds: [dense(0, 1), ragged([[5n], [6n, 7n]])] });
  const words = [...views.u32.subarray(at / 4, at / 4 + 5)];
  t.same(words, [2, 3, at + 64, at + 128, at + 192]);
  t.equal(views.f32[(at + 64) / 4 + 1], 1);
  t.same([...views.i32.subarray((at + 128) / 4, (at + 128) / 4 + 3)], [0, 1, 3]);
  t.equal(views.i64[(at + 192) / 8 + 2], 7n);
});

t.test('data that does not fit the schema is refused with the name of the feed', async (t) => {
  const cases: [FeedData[], string][] = [
    [[dense(0, 1)], 'batch'],
    [[dense(0), ragged([[], []])], 'label'],
    [[ragged([[], []]), ragged([[], []])], 'label'],
    [[dense(0, 1), ragged([[1n]])], 'ids'],
    [[dense(0, 1), { kind: 'ragged', splits: Int32Array.of(0, 2, 1), values: BigInt64Array.of(1n) }], 'ids'],
    [[dense(0, 1), { kind: 'ragged', splits: Int32Array.of(1, 1, 1), values: BigInt64Array.of(1n) }], 'ids'],
  ];
  for (const [feeds, name] of cases) {
    t.throws(() => writeBatch(views, 0, SCHEMA, { rows: 2, feeds }), { code: 'ML_FEED', fields: { name } });
  }
  t.throws(() => bytesFor(SCHEMA, 2, []), { code: 'ML_FEED', fields: { name: 'ids' } });
});

t.test('a batch outside the memory or off its line is refused', async (t) => {
  const data: BatchData = { rows: 1, feeds: [dense(1), ragged([[1n]])] };
  t.throws(() => writeBatch(views, 8, SCHEMA, data), { code: 'ML_BOUNDS' });
  t.throws(() => writeBatch(views, views.buffer.byteLength - 64, SCHEMA, data), { code: 'ML_BOUNDS' });
  writeBatch(views, 0, SCHEMA, data);
  t.throws(() => readBatch(views, 0, SCHEMA.slice(0, 1)), { code: 'ML_FEED' });
});
