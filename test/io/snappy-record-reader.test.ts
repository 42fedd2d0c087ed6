import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { SnappyRecordReader } from '../../src/io/snappy-record-reader.js';
import { recordBytes, snappyStream } from './snappy-stream.js';

/** All payloads of `file`, copied. */
function readAll(file: string): Uint8Array[] {
  const reader = new SnappyRecordReader(file);
  try {
    const payloads: Uint8Array[] = [];
    for (let payload = reader.next(); payload !== null; payload = reader.next()) payloads.push(payload.slice());
    return payloads;
  } finally {
    reader.close();
  }
}

t.test('records come back whole, wherever blocks end', async (t) => {
  const file = join(t.testdir(), 'data');
  const payloads = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(payloads, fc.integer({ min: 1, max: 500 }), async (records, blockBytes) => {
      writeFileSync(file, snappyStream(await recordBytes(records), blockBytes));
      t.same(
        readAll(file).map((payload) => [...payload]),
        records.map((payload) => [...payload]),
      );
    }),
    { numRuns: 50 },
  );
});

t.test('damage is an error that names file and record', async (t) => {
  const file = join(t.testdir(), 'data');
  const records = Array.from({ length: 10 }, (_, i) => new Uint8Array(50).fill(i + 1));
  const whole = snappyStream(await recordBytes(records), 128);
  for (let at = 0; at < whole.length; at += 7) {
    const flipped = whole.slice();
    flipped[at]! ^= 0x10;
    writeFileSync(file, flipped);
    t.throws(() => readAll(file), { code: 'ML_RECORD', fields: { file, record: Number } }, `byte ${at}`);
    writeFileSync(file, whole.subarray(0, at));
    if (at > 0) t.throws(() => readAll(file), { code: 'ML_RECORD', fields: { file } }, `cut at ${at}`);
  }
  t.throws(() => new SnappyRecordReader(`${file}-not`), { code: 'ML_FILE_READ' });
});

t.test('a closed reader says so', async (t) => {
  const file = join(t.testdir(), 'data');
  writeFileSync(file, snappyStream(await recordBytes([new Uint8Array(5)]), 100));
  const reader = new SnappyRecordReader(file);
  reader.close();
  reader.close();
  t.throws(() => reader.next(), { code: 'ML_CLOSED' });
});
