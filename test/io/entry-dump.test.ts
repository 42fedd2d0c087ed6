import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { EntryDumpCodec, type EntryRow } from '../../src/io/entry-dump.js';
import type { DumpedOptimizer, DumpSegment } from '../../src/io/optimizer-dump.js';
import { ProtoWriter } from '../../src/io/proto-writer.js';
import { RecordWriter } from '../../src/io/record-writer.js';
import { bytesOf, hexOf, parityCase } from './parity.js';

function encode(codec: EntryDumpCodec, row: EntryRow): Uint8Array {
  const bytes = new Uint8Array(codec.maxBytes + 3);
  const size = codec.encode(row, bytes, new DataView(bytes.buffer), 3);
  return bytes.slice(3, 3 + size);
}

function decode(codec: EntryDumpCodec, payload: Uint8Array): EntryRow {
  const row = codec.makeRow();
  codec.decode(payload, row);
  return row;
}

/**
 * Number in SingleOptimizerDump, which block of the state each field of floats is, and how many words follow the
 * blocks.
 */
const DUMPS: Readonly<Record<DumpedOptimizer, { number: number; blocks: readonly number[]; scalars: number }>> = {
  adagrad: { number: 1, blocks: [0], scalars: 0 },
  sgd: { number: 2, blocks: [], scalars: 0 },
  ftrl: { number: 3, blocks: [1, 0], scalars: 0 },
  dynamicWdAdagrad: { number: 4, blocks: [0], scalars: 0 },
  adadelta: { number: 6, blocks: [0, 1], scalars: 0 },
  adam: { number: 7, blocks: [0, 1], scalars: 2 },
  amsgrad: { number: 8, blocks: [0, 1, 2], scalars: 2 },
  momentum: { number: 9, blocks: [0], scalars: 0 },
  movingAverage: { number: 0, blocks: [], scalars: 0 },
  rmsprop: { number: 11, blocks: [0], scalars: 0 },
  rmspropv2: { number: 12, blocks: [0], scalars: 0 },
  groupFtrl: { number: 13, blocks: [1, 0], scalars: 0 },
  batchSoftmax: { number: 14, blocks: [], scalars: 2 },
  groupAdagrad: { number: 15, blocks: [], scalars: 1 },
};

/** The same message, field by field, in the order and packing the flags say. */
function plainEncode(segments: readonly DumpSegment[], row: EntryRow, packed: boolean, reversed: boolean): Uint8Array {
  const floats = (writer: ProtoWriter, field: number, values: Float32Array): void => {
    if (packed) writer.bytesField(field, new Uint8Array(values.slice().buffer));
    else for (const value of values) writer.floatField(field, value);
  };
  const opt = new ProtoWriter();
  let at = 0;
  for (const { dim, optimizer } of segments) {
    const dump = new ProtoWriter();
    const { number, blocks, scalars } = DUMPS[optimizer];
    blocks.forEach((block, i) => {
      floats(dump, i + 1, row.state.subarray(at + block * dim, at + (block + 1) * dim));
    });
    at += blocks.length * dim;
    if (optimizer === 'batchSoftmax') {
      dump.int64Field(1, new DataView(row.state.slice(at).buffer).getBigInt64(0, true));
    } else for (let i = 0; i < scalars; i++) dump.floatField(blocks.length + 1 + i, row.state[at + i]!);
    if (optimizer === 'dynamicWdAdagrad') dump.int64Field(2, 0);
    at += scalars;
    if (number !== 0) opt.bytesField(1, new ProtoWriter().bytesField(number, dump.finish()).finish());
  }
  const fields = [
    (writer: ProtoWriter) => writer.sfixed64Field(1, row.id),
    (writer: ProtoWriter) => floats(writer, 2, row.weights),
    (writer: ProtoWriter) => writer.bytesField(3, opt.finish()),
    (writer: ProtoWriter) => writer.int64Field(4, row.lastUpdateSec),
  ];
  if (reversed) fields.reverse();
  const writer = new ProtoWriter();
  for (const field of fields) field(writer);
  if (reversed) writer.bytesField(77, 'an unknown field');
  return writer.finish();
}

const segment: fc.Arbitrary<DumpSegment> = fc.record({
  dim: fc.integer({ min: 1, max: 40 }),
  optimizer: fc.constantFrom(...(Object.keys(DUMPS) as DumpedOptimizer[])),
});

const rowOf = (codec: EntryDumpCodec): fc.Arbitrary<EntryRow> =>
  fc.record(
    {
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      weights: fc.float32Array({ minLength: codec.weightCount, maxLength: codec.weightCount, noNaN: true }),
      state: fc.float32Array({ minLength: codec.stateCount, maxLength: codec.stateCount, noNaN: true }),
      lastUpdateSec: fc.oneof(fc.nat(), fc.maxSafeNat()),
    },
    { noNullPrototype: true },
  );

const codecAndRow = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map((segments) => new EntryDumpCodec(segments))
  .chain((codec) => fc.tuple(fc.constant(codec), rowOf(codec)));

t.test('a row of SGD has the golden bytes, as message and as record', async (t) => {
  const { expected } = parityCase<unknown, { payload_hex: string; record_hex: string }>(
    'hash_table/dump',
    'entry record of the serving guide',
  );
  const codec = new EntryDumpCodec([{ dim: 4, optimizer: 'sgd' }]);
  const row = { id: 1n, weights: Float32Array.of(0, 1, 2, 3), state: new Float32Array(0), lastUpdateSec: 0 };
  const payload = encode(codec, row);
  t.equal(hexOf(payload), expected.payload_hex);
  t.same(decode(codec, payload), row);
  let record = '';
  const writer = new RecordWriter({
    write: async (bytes) => {
      record += hexOf(bytes);
    },
  });
  writer.end(codec.encode(row, writer.bytes, writer.view, writer.begin(codec.maxBytes)));
  await writer.flush();
  t.equal(record, expected.record_hex);
});

t.test('a row of Adagrad whose state has its own length has the golden bytes', async (t) => {
  const { expected } = parityCase<unknown, { payload_hex: string }>(
    'hash_table/dump',
    'entry record with adagrad state',
  );
  const codec = new EntryDumpCodec([{ dim: 1, optimizer: 'adagrad', stateDim: 2 }]);
  const state = Float32Array.of(0.1, 0.25);
  const row = { id: -1n, weights: Float32Array.of(1), state, lastUpdateSec: 1700000000 };
  t.equal(hexOf(encode(codec, row)), expected.payload_hex);
  t.same(decode(codec, bytesOf(expected.payload_hex)), row);
});

t.test('FTRL stores zero before norm, rows hold norm before zero', async (t) => {
  const codec = new EntryDumpCodec([{ dim: 1, optimizer: 'ftrl' }]);
  const row = { id: 2n, weights: Float32Array.of(0), state: Float32Array.of(1, 2), lastUpdateSec: 5 };
  t.equal(hexOf(encode(codec, row)), `0902000000000000001500000000${'1a0e0a0c1a0a0d00000040150000803f'}2005`);
});

t.test('any row equals the field-by-field message and comes back, also reordered or packed', async () => {
  fc.assert(
    fc.property(codecAndRow, fc.boolean(), fc.boolean(), ([codec, row], packed, reversed) => {
      const payload = encode(codec, row);
      assert.deepEqual(payload, plainEncode(codec.segments, row, false, false));
      assert.deepEqual(decode(codec, payload), row);
      assert.deepEqual(decode(codec, plainEncode(codec.segments, row, packed, reversed)), row);
    }),
    { numRuns: 100 },
  );
});

t.test('adam keeps both powers, batch_softmax its step, and moving_average leaves no dump', async (t) => {
  const codec = new EntryDumpCodec([
    { dim: 1, optimizer: 'adam' },
    { dim: 1, optimizer: 'movingAverage' },
    { dim: 1, optimizer: 'batchSoftmax' },
  ]);
  const state = new Float32Array(6);
  state.set([1, 2, 0.5, 0.25]);
  new BigInt64Array(state.buffer, 16, 1)[0] = 300n;
  const row = { id: 1n, weights: Float32Array.of(0, 0, 0), state, lastUpdateSec: 0 };
  const payload = encode(codec, row);
  const dumps = '0a163a140d0000803f15000000401d0000003f250000803e' + '0a0572030' + '8ac02';
  t.ok(hexOf(payload).endsWith(`1a1f${dumps}2000`), hexOf(payload));
  t.same(decode(codec, payload), row);
});

t.test('a missing time reads as zero', async (t) => {
  const codec = new EntryDumpCodec([{ dim: 1, optimizer: 'sgd' }]);
  const row = decode(codec, bytesOf('09010000000000000015000080401a040a021200'));
  t.same([row.id, row.weights[0], row.lastUpdateSec], [1n, 4, 0]);
});

t.test('a message of another shape is refused', async (t) => {
  const sgd2 = new EntryDumpCodec([{ dim: 2, optimizer: 'sgd' }]);
  const row = { id: 1n, weights: Float32Array.of(1, 2), state: Float32Array.of(3, 4), lastUpdateSec: 1 };
  const payload = encode(new EntryDumpCodec([{ dim: 2, optimizer: 'adagrad' }]), row);
  const shapes: DumpSegment[][] = [
    [{ dim: 2, optimizer: 'sgd' }],
    [{ dim: 2, optimizer: 'ftrl' }],
    [{ dim: 1, optimizer: 'adagrad' }],
    [{ dim: 3, optimizer: 'adagrad' }],
    [
      { dim: 1, optimizer: 'adagrad' },
      { dim: 1, optimizer: 'adagrad' },
    ],
  ];
  for (const segments of shapes) {
    const codec = new EntryDumpCodec(segments);
    t.throws(() => codec.decode(payload, codec.makeRow()), { code: 'ML_PROTO' });
  }
  t.throws(() => encode(sgd2, row), { code: 'ML_PROTO' }, 'state that the shape has no place for');
  t.throws(() => encode(sgd2, { ...row, state: new Float32Array(0), lastUpdateSec: -1 }), { code: 'ML_PROTO' });
});

t.test('cut messages are refused', async () => {
  fc.assert(
    fc.property(codecAndRow, fc.nat(), ([codec, row], at) => {
      const payload = encode(codec, { ...row, lastUpdateSec: 1 });
      // Without its two last bytes the message only lacks the time, which reads as zero.
      const cut = payload.subarray(0, at % (payload.length - 2));
      try {
        codec.decode(cut, codec.makeRow());
        return false;
      } catch (error) {
        return error instanceof MonolithError && error.code === 'ML_PROTO';
      }
    }),
    { numRuns: 100 },
  );
});
