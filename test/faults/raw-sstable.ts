/** @file Sorted tables that no writer makes: any blocks, any of them more than once. */
import { crc32c, maskCrc } from '../../src/base/crc32c.js';
import { putVarint } from '../../src/io/proto-writer.js';
import { BlockBuilder } from '../../src/io/sstable-block.js';

const MAGIC = 0xdb4775248b80fb57n;

export interface RawBlock {
  readonly content: Uint8Array;
  readonly snappy?: boolean;
  /** Handles that lead to it; 1 unless told. */
  readonly handles?: number;
}

/** The file of a table with these blocks, all checksums right. */
export function rawSstable(blocks: readonly RawBlock[]): Buffer {
  const parts: Uint8Array[] = [];
  let offset = 0;
  const append = (content: Uint8Array, type: number) => {
    const body = Buffer.concat([content, Uint8Array.of(type)]);
    const crc = Buffer.alloc(4);
    crc.writeUInt32LE(maskCrc(crc32c(body)));
    parts.push(body, crc);
    const handle = varints(offset, content.length);
    offset += body.length + crc.length;
    return handle;
  };
  const index = new BlockBuilder(1);
  let key = 0;
  for (const { content, snappy = false, handles = 1 } of blocks) {
    const handle = append(content, snappy ? 1 : 0);
    for (let i = 0; i < handles; i++) index.add(Buffer.from(String(key++).padStart(9, '0')), handle);
  }
  const meta = append(new BlockBuilder(16).finish(), 0);
  const footer = Buffer.alloc(48);
  footer.set(Buffer.concat([meta, append(index.finish(), 0)]));
  footer.writeBigUInt64LE(MAGIC, 40);
  return Buffer.concat([...parts, footer]);
}

/**
 * A block with the header of a bundle and `count` entries without values, of `keyBytes` each, made of ten bytes of the
 * block.
 */
export function sharedKeys(header: Uint8Array, keyBytes: number, count: number): Uint8Array {
  const digits = 7;
  const shared = keyBytes - digits;
  const number = (value: number) => Buffer.from(String(value).padStart(digits, '0'));
  const entries = Array.from({ length: count }, (_, i) => Buffer.concat([varints(shared, digits, 0), number(i + 1)]));
  const first = Buffer.concat([varints(0, keyBytes, 0), Buffer.alloc(shared, 'x'), number(0)]);
  const restarts = Buffer.from(Uint32Array.of(0, 1).buffer);
  return Buffer.concat([varints(0, 0, header.length), header, first, ...entries, restarts]);
}

function varints(...values: number[]): Uint8Array {
  const bytes = new Uint8Array(10 * values.length);
  return bytes.slice(
    0,
    values.reduce((at, value) => putVarint(bytes, at, value), 0),
  );
}
