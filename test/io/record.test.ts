import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { crc32c, crcHex, maskCrc, maskedCrc32c, unmaskCrc } from '../../src/base/crc32c.js';
import { RecordReader } from '../../src/io/record-reader.js';
import { RecordWriter } from '../../src/io/record-writer.js';
import { tfSnappyDecode } from '../../src/io/snappy.js';
import { bytesOf, hexOf, parityCase } from './parity.js';

async function framed(payloads: readonly Uint8Array[], flushBytes?: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const sink = {
    write: async (bytes: Uint8Array) => {
      parts.push(bytes.slice());
    },
  };
  const writer = new RecordWriter(sink, flushBytes);
  for (const payload of payloads) await writer.write(payload);
  await writer.flush();
  return Uint8Array.from(Buffer.concat(parts));
}

function readAll(file: string, bufferBytes?: number): string[] {
  const reader = new RecordReader(file, bufferBytes === undefined ? {} : { bufferBytes });
  return Array.from(reader, hexOf);
}

t.test('CRC-32C, its mask and its continuation match the check values', async (t) => {
  type Expected = { crc32c: string[]; masked: string[] };
  const { input, expected } = parityCase<{ bytes_hex: string[] }, Expected>('record', 'crc32c check values');
  input.bytes_hex.forEach((hex, i) => {
    const bytes = bytesOf(hex);
    t.equal(crcHex(crc32c(bytes)), expected.crc32c[i]);
    t.equal(crcHex(maskedCrc32c(bytes)), expected.masked[i]);
    t.equal(crc32c(bytes.subarray(4), crc32c(bytes.subarray(0, 4))), crc32c(bytes));
  });
  fc.assert(fc.property(fc.integer({ min: 0, max: 0xffffffff }), (crc) => unmaskCrc(maskCrc(crc)) === crc));
});

t.test('records have the golden bytes', async (t) => {
  const golden = parityCase<{ payloads: string[] }, { hex: string }>('record', 'tfrecord bytes');
  const bytes = await framed(golden.input.payloads.map((text) => Buffer.from(text)));
  t.equal(hexOf(bytes), golden.expected.hex);
});

t.test('a TensorFlow snappy stream decodes to its two records', async (t) => {
  const golden = parityCase<{ hex: string }, { uncompressed_bytes: number }>(
    'record',
    'tf snappy stream decodes to two records',
  );
  const stream = bytesOf(golden.input.hex);
  const bytes = tfSnappyDecode(stream);
  t.equal(bytes.length, golden.expected.uncompressed_bytes);
  const file = join(t.testdir(), 'records');
  writeFileSync(file, bytes);
  t.same(readAll(file), [hexOf(Buffer.from('a')), hexOf(Buffer.from('monolith'.repeat(40)))]);
  for (let cut = 1; cut < stream.length; cut++) {
    t.throws(() => tfSnappyDecode(stream.subarray(0, cut)), { code: 'ML_SNAPPY' });
  }
});

t.test('any payloads come back, whatever the buffer sizes', async (t) => {
  const file = join(t.testdir(), 'records');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 200 }),
      async (payloads, flushBytes, bufferBytes) => {
        const bytes = await framed(payloads, flushBytes);
        writeFileSync(file, bytes);
        assert.deepEqual(readAll(file, bufferBytes), payloads.map(hexOf));
        const reader = new RecordReader(file, { bufferBytes });
        while (reader.next() !== null);
        reader.close();
        assert.equal(reader.fileCrc, crc32c(bytes), 'checksum of the file');
        assert.equal(reader.offset, bytes.length);
      },
    ),
    { numRuns: 60 },
  );
});

t.test('a cut or a flipped bit is noticed and named', async (t) => {
  const file = join(t.testdir(), 'records');
  const payloads = ['', 'a', 'monolith'].map((text) => Buffer.from(text));
  const whole = await framed(payloads);
  const boundaries = [0, 16, 33, whole.length];
  for (let cut = 0; cut < whole.length; cut++) {
    writeFileSync(file, whole.subarray(0, cut));
    const record = boundaries.findLastIndex((at) => at <= cut);
    if (boundaries.includes(cut)) t.equal(readAll(file).length, record);
    else t.throws(() => readAll(file), { code: 'ML_RECORD', fields: { file, record } }, `cut at ${cut}`);
  }
  for (let bit = 0; bit < 8 * whole.length; bit++) {
    const damaged = whole.slice();
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(file, damaged);
    const record = boundaries.findLastIndex((at) => at <= bit >> 3);
    t.throws(() => readAll(file), { code: 'ML_RECORD', fields: { file, record } }, `bit ${bit}`);
  }
});

t.test('errors of a record file say which field, and a missing file has a code', async (t) => {
  const dir = t.testdir();
  const file = join(dir, 'records');
  const whole = await framed([Buffer.from('payload')]);
  const fieldAt: readonly (readonly [number, string])[] = [
    [0, 'length checksum'],
    [9, 'length checksum'],
    [14, 'payload checksum'],
    [20, 'payload checksum'],
  ];
  for (const [at, field] of fieldAt) {
    const damaged = whole.slice();
    damaged[at]! ^= 1;
    writeFileSync(file, damaged);
    t.throws(() => readAll(file), { code: 'ML_RECORD', fields: { field } });
  }
  t.throws(() => new RecordReader(join(dir, 'none')), { code: 'ML_FILE_READ' });
  t.throws(() => new RecordReader(dir).next(), { code: 'ML_FILE_READ' });
  const reader = new RecordReader(file);
  reader.close();
  reader.close();
  t.throws(() => reader.next(), { code: 'ML_CLOSED' });
});

t.test('a huge length with a correct checksum is a cut file, not an allocation', async (t) => {
  const file = join(t.testdir(), 'records');
  const header = new Uint8Array(12);
  const view = new DataView(header.buffer);
  view.setBigUint64(0, 1n << 60n, true);
  view.setUint32(8, maskedCrc32c(header.subarray(0, 8)), true);
  writeFileSync(file, header);
  t.throws(() => readAll(file), { code: 'ML_RECORD', fields: { field: 'payload' } });
});
