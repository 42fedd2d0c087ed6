import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { ProtoReader } from '../../src/io/proto-reader.js';
import { ProtoWriter, putVarint, varintSize } from '../../src/io/proto-writer.js';
import { bytesOf, hexOf } from './parity.js';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

t.test('fields of every kind come back as they were written', async () => {
  const float = fc.float({ noNaN: true });
  fc.assert(
    fc.property(int64, int64, float, fc.string({ unit: 'grapheme' }), fc.maxSafeNat(), (a, b, f, s, n) => {
      const bytes = new ProtoWriter(1)
        .int64Field(1, a)
        .sfixed64Field(2, b)
        .floatField(3, f)
        .bytesField(4, s)
        .tag(1000, 0)
        .varint(n)
        .fixed32Field(6, n % 2 ** 32)
        .finish();
      const reader = new ProtoReader(bytes);
      const found = [
        [reader.next(), reader.int64()],
        [reader.next(), reader.sfixed64()],
        [reader.next(), reader.float()],
        [reader.next(), reader.string()],
        [reader.next(), reader.uint()],
        [reader.next(), reader.fixed32()],
        reader.next(),
      ];
      assert.deepEqual(found, [[1, a], [2, b], [3, f], [4, s], [1000, n], [6, n % 2 ** 32], 0]);
    }),
    { numRuns: 200 },
  );
});

t.test('a negative int64 takes ten bytes and a varint knows its size', async (t) => {
  t.equal(hexOf(new ProtoWriter().int64Field(1, -1).finish()), '08ffffffffffffffffff01');
  const bytes = new Uint8Array(10);
  fc.assert(fc.property(fc.maxSafeNat(), (value) => putVarint(bytes, 0, value) === varintSize(value)));
});

t.test('unknown fields are skipped by wire type', async (t) => {
  const reader = new ProtoReader(
    new ProtoWriter()
      .int64Field(9, -5)
      .sfixed64Field(9, 1n)
      .bytesField(9, 'x')
      .fixed32Field(9, 3)
      .int64Field(2, 7)
      .finish(),
  );
  for (let i = 0; i < 4; i++) {
    t.equal(reader.next(), 9);
    reader.skip();
  }
  t.equal(reader.next(), 2);
  t.equal(reader.int32(), 7);
});

t.test('repeated scalars are read packed and unpacked', async (t) => {
  const out = new Float32Array(3);
  const packed = new ProtoReader(bytesOf('0a080000803f00000040'));
  packed.next();
  t.equal(packed.floats(out, 1), 3);
  t.same([...out], [0, 1, 2]);
  const ints = new ProtoReader(bytesOf('0a0381010708ffffffffffffffffff01'));
  ints.next();
  t.same(ints.int32s(), [129, 7]);
  ints.next();
  t.same(ints.int32s(), [-1]);
  const many = new ProtoReader(bytesOf('0a080000803f00000040'));
  many.next();
  t.throws(() => many.floats(out, 2), { code: 'ML_PROTO' });
});

t.test('no bytes whatsoever make the reader do anything but answer or refuse', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const reader = new ProtoReader(bytes);
      try {
        while (reader.next() !== 0) reader.skip();
        return true;
      } catch (error) {
        return error instanceof MonolithError && error.code === 'ML_PROTO';
      }
    }),
    { numRuns: 500 },
  );
});
