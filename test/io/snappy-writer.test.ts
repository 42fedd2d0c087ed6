import fc from 'fast-check';
import t from 'tap';
import { snappyUncompress, tfSnappyDecode } from '../../src/io/snappy.js';
import { SNAPPY_BLOCK_BYTES, SnappyStream, snappyCompress, snappyMaxBytes } from '../../src/io/snappy-writer.js';

t.test('what is compressed comes back', (t) => {
  const runs = fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 90 })), {
    maxLength: 40,
  });
  const repetitive = runs.map((parts) => {
    return Uint8Array.from(parts.flatMap(([bytes, times]) => Array.from({ length: times }, () => [...bytes]).flat()));
  });
  fc.assert(
    fc.property(fc.oneof(repetitive, fc.uint8Array({ maxLength: 3000 })), (input) => {
      const packed = snappyCompress(input);
      return packed.length <= snappyMaxBytes(input.length) && Buffer.compare(snappyUncompress(packed), input) === 0;
    }),
    { numRuns: 150 },
  );
  t.end();
});

t.test('repetition shrinks, also across and beyond 64 KiB', (t) => {
  const input = new Uint8Array(300_000).map((_, i) => (i % 97) ^ (i >> 15));
  const packed = snappyCompress(input);
  t.ok(packed.length < input.length / 10);
  t.equal(Buffer.compare(snappyUncompress(packed), input), 0);
  t.end();
});

t.test('a stream gathers blocks of at most 262144 bytes behind their big-endian sizes', async (t) => {
  const written: Uint8Array[] = [];
  const stream = new SnappyStream({
    write: async (bytes) => {
      written.push(bytes.slice());
    },
  });
  const input = new Uint8Array(2 * SNAPPY_BLOCK_BYTES + 1000).map((_, i) => (i * 2654435761) >>> 24);
  await stream.write(input.subarray(0, 10));
  await stream.write(input.subarray(10));
  await stream.flush();
  await stream.flush();
  t.equal(written.length, 3);
  const all = Buffer.concat(written);
  t.equal(all.readUInt32BE(0), written[0]!.length - 4);
  t.equal(Buffer.compare(tfSnappyDecode(all), input), 0);
});
