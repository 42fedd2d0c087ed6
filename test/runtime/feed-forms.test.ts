/** @file Feeds in the forms people have them in, and what is said of those that cannot be taken. */
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { loadBatches } from '../../src/data/resident-batches.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { Graph } from '../../src/graph/graph.js';
import { idsPlaceholder } from '../../src/graph/ops/state.js';
import { readBatch } from '../../src/memory/batch.js';
import { FeedWriter } from '../../src/runtime/session/feed-writer.js';
import { Session } from '../../src/runtime/session/session.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import type { FeedValue } from '../../src/tensor/feed-values.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor as DenseTensor } from '../../src/tensor/tensor.js';

const schema = defineSchema({
  x: dense.f32({ width: 2 }),
  one: ragged.i64({ valuesPerRow: 1 }),
  many: ragged.i64({ valuesPerRow: 3 }),
});
const graph = new Graph();
const inputs = schema.inputs(graph);
idsPlaceholder(graph, { name: 'ids', width: 2 });
const specs = [...schema.specs, { name: 'ids', kind: 'ids', width: 2 } as const];
const session = await Session.create(graph, { schema: specs, batchSize: 4, threads: 1, memoryBytes: 64 << 20 });
t.teardown(() => session.close());

const foreign = runInNewContext(`({
  x: Float32Array.of(1, 2, 3, 4),
  list: [1, 2, 3, 4],
  ids: BigInt64Array.of(1n, 2n, 3n, 4n),
  splits: Int32Array.of(0, 1, 4),
  map: (pairs) => new Map(pairs),
})`);
/** Right for two rows. */
const right = {
  x: Float32Array.of(1, 2, 3, 4),
  one: { splits: Int32Array.of(0, 1, 2), values: BigInt64Array.of(7n, 8n) },
  many: { splits: Int32Array.of(0, 1, 4), values: BigInt64Array.of(1n, 2n, 3n, 4n) },
  ids: BigInt64Array.of(1n, 2n, 3n, 4n),
};

const FORMS: Readonly<Record<keyof typeof right, Readonly<Record<string, unknown>>>> = {
  x: {
    'a list': [1, 2, 3, 4],
    'a list for each row': [
      [1, 2],
      [3, 4],
    ],
    'arrays for each row': [Float32Array.of(1, 2), Float64Array.of(3, 4)],
    'lists in lists': [[[1], [2]], [[3, 4]]],
    doubles: Float64Array.of(1, 2, 3, 4),
    bytes: Uint8Array.of(1, 2, 3, 4),
    'another realm': foreign.x,
    'a list of another realm': foreign.list,
    'a tensor': DenseTensor.of('float32', [
      [1, 2],
      [3, 4],
    ]),
    'a tensor of whole numbers': DenseTensor.of('int32', [1, 2, 3, 4]),
  },
  one: {
    'a list for each row': [[7n], [8n]],
    'one id for each row': [7n, 8n],
    numbers: [7, 8],
    'an array': BigInt64Array.of(7n, 8n),
    'an unsigned array': BigUint64Array.of(7n, 8n),
    'whole numbers': Uint32Array.of(7, 8),
  },
  many: {
    'a list for each row': [[1n], [2n, 3n, 4n]],
    numbers: [[1], [2, 3, 4]],
    'arrays for each row': [BigInt64Array.of(1n), BigUint64Array.of(2n, 3n, 4n)],
    'splits and values in lists': { splits: [0, 1, 4], values: [1n, 2n, 3, 4] },
    'unsigned values': { splits: Int32Array.of(0, 1, 4), values: BigUint64Array.of(1n, 2n, 3n, 4n) },
    'splits of 64 bits': { splits: BigInt64Array.of(0n, 1n, 4n), values: right.many.values },
    'another realm': { splits: foreign.splits, values: foreign.ids },
    'a ragged tensor': RaggedTensor.fromRows('int64', [[1], [2, 3, 4]]),
  },
  ids: {
    'a list': [1n, 2n, 3n, 4n],
    'a list for each row': [
      [1, 2],
      [3, 4],
    ],
    unsigned: BigUint64Array.of(1n, 2n, 3n, 4n),
    'another realm': foreign.ids,
    'a tensor': DenseTensor.of('int64', [1, 2, 3, 4]),
  },
};

t.test('every form gives what the arrays of a batch give', async (t) => {
  const plain = loadBatches(session, [
    {
      rows: 2,
      feeds: [
        { kind: 'dense', values: right.x },
        { kind: 'ragged', ...right.one },
        { kind: 'ragged', ...right.many },
        { kind: 'ids', values: right.ids },
      ],
    },
  ])[0]!;
  const wanted = readBatch(coreOf(session).views, plain, specs);
  const writer = new FeedWriter(coreOf(session).views, coreOf(session).arena, specs, graph);
  for (const [name, forms] of Object.entries(FORMS)) {
    for (const [form, value] of Object.entries(forms)) {
      const at = writer.write(writer.read({ ...right, [name]: value as FeedValue }));
      t.same(readBatch(coreOf(session).views, at, specs), wanted, `${name}: ${form}`);
    }
  }
  const map = foreign.map([
    [inputs.x, right.x],
    [inputs.one, [7n, 8n]],
    [inputs.many, FORMS.many['a list for each row']],
    [graph.tensor('ids'), right.ids],
  ]);
  t.same(readBatch(coreOf(session).views, writer.write(writer.read(map)), specs), wanted, 'a map of another realm');
  t.same(
    schema.batch({
      x: [
        [1, 2],
        [3, 4],
      ],
      one: [7, 8n],
      many: [[1], [2n, 3n, 4n]],
    }).feeds,
    wanted.feeds.slice(0, 3),
  );
});

t.test('what cannot be fed is told with the name, what is needed and what was given', async (t) => {
  const cases: readonly [keyof typeof right, unknown, RegExp, RegExp?][] = [
    ['x', null, /^feed x does not fit: float32 \[rows, 2\] is needed: null was given/, /a Float32Array/],
    ['x', 'abc', /"abc" was given/],
    ['x', BigInt64Array.of(1n), /a BigInt64Array of 1 was given/],
    ['x', new DataView(new ArrayBuffer(8)), /was given/],
    ['x', [1, 2, 3, '4'], /value \[3\] is "4", no number/],
    ['x', [[1, 2], [3]], /row 1 has 1 values, not 2/],
    ['x', [[1, 2], 3], /row 1 is 3, no list/],
    ['x', [1, 2, 3], /its values do not fill a whole number of rows: 3 values, rows have 2/],
    ['x', { splits: [0], values: [] }, /an object with splits, values was given/],
    ['ids', Float32Array.of(1, 2), /int64 \[rows, 2\] is needed: a Float32Array of 2 was given/, /BigInt64Array/],
    ['ids', [1n, 2n], /int64 \[2, 2\] is needed for 2 rows, as x has: 2 values were given/],
    ['ids', [2 ** 53, 1, 2, 3], /9007199254740992, no whole number below 2\^53/, /write ids as 123n/],
    ['ids', [0.5, 1, 2, 3], /value \[0\] is 0.5, no whole number/],
    [
      'many',
      [1n, 2n],
      /ids for each row is needed: a list of 2 was given without rows, and a row has up to 3 ids/,
      /\[\[1n\]/,
    ],
    ['many', [[1n], 2n], /row 1 is 2n, no list of ids/],
    ['many', [[1n], [[2n]]], /row 1 has lists in it/],
    ['many', [[1n], [2n ** 53n, 2 ** 60]], /in row 1 value \[1\] is 1152921504606847000, no whole number below 2/],
    ['many', [[1n]], /ids for 2 rows, as x has, are needed: 2 splits were given, for 1 rows/],
    ['many', { splits: [0, -1, 0], values: [] }, /its splits cannot be read: -1 is none/],
    ['many', { splits: [0, 1, 3], values: [1n] }, /its splits run from 0 to 3 over 1 values/],
    ['one', 'abc', /"abc" was given/],
  ];
  for (const [name, value, message, hint] of cases) {
    const feeds = { ...right, [name]: value as FeedValue };
    const error = { code: 'ML_FEED', fields: { name }, message, ...(hint && { hint }) };
    await t.rejects(session.run([inputs.x], feeds), error, String(message));
  }
  const deep: unknown[] = [];
  deep.push(deep);
  await t.rejects(session.run([inputs.x], { ...right, x: deep as never }), { code: 'ML_FEED' }, 'a list in itself');
});

t.test('a single value is one row', async (t) => {
  const small = defineSchema({ y: dense.f32(), id: ragged.i64({ valuesPerRow: 1 }) });
  t.match(small.batch({ y: 3, id: 5n }), { rows: 1, feeds: [{ values: [3] }, { splits: [0, 1], values: [5n] }] });
  t.match(small.batch({ y: [], id: [] }), { rows: 0 });
});

t.test('batches with lists in place of arrays are loaded', async (t) => {
  const feeds = [
    { kind: 'dense', values: [1, 2] },
    { kind: 'ragged', splits: [0, 1], values: [1] },
    { kind: 'ragged', splits: [0, 2], values: [1, 2n] },
    { kind: 'ids', values: [1n, 2] },
  ];
  const [at] = loadBatches(session, [{ rows: 1, feeds: feeds as never }]);
  t.match(readBatch(coreOf(session).views, at!, specs).feeds[2], { values: [1n, 2n] });
  const wrong = [{ kind: 'dense', values: ['1', 2] }, ...feeds.slice(1)];
  t.throws(() => loadBatches(session, [{ rows: 1, feeds: wrong as never }]), { code: 'ML_FEED' });
});
