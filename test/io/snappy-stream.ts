/**
 * @file Writes what multi-table files hold, for tests: records inside a stream of snappy blocks that compress nothing.
 */
import { RecordWriter } from '../../src/io/record-writer.js';

/** Payloads as the bytes of a record file. */
export async function recordBytes(payloads: readonly Uint8Array[]): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const writer = new RecordWriter({
    write: async (bytes) => {
      parts.push(bytes.slice());
    },
  });
  for (const payload of payloads) await writer.write(payload);
  await writer.flush();
  return Buffer.concat(parts);
}

/** A raw snappy block of one literal of fewer than 65536 bytes. */
export function literalBlock(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  const size: number[] = [];
  for (let rest = length; size.length === 0 || rest > 0; rest >>>= 7)
    size.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  const tag = length === 0 ? [] : [61 << 2, (length - 1) & 0xff, (length - 1) >>> 8];
  return Buffer.concat([Uint8Array.from([...size, ...tag]), bytes]);
}

/** `bytes` in blocks of `blockBytes`, each after its compressed length as a big-endian u32. */
export function snappyStream(bytes: Uint8Array, blockBytes: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += blockBytes) {
    const block = literalBlock(bytes.subarray(at, at + blockBytes));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(block.length);
    parts.push(length, block);
  }
  return Buffer.concat(parts);
}
