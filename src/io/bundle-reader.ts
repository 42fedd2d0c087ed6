/**
 * @file Reads a tensor bundle, verifying every checksum before a value is handed out.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { MonolithError, messageOf } from '../base/errors.js';
import {
  BUNDLE_DTYPES,
  type BundleData,
  type BundleDtype,
  type BundleEntry,
  type BundleHeader,
  type BundleTensor,
  bundleError,
  decodeEntry,
  decodeHeader,
  elementCount,
} from './bundle-format.js';
import { crc32c, crcHex, maskCrc, unmaskCrc } from './crc32c.js';
import { shardFileName } from './shard-files.js';
import { readSstable } from './sstable.js';

export class BundleReader {
  readonly prefix: string;
  readonly #header: BundleHeader;
  readonly #entries = new Map<string, BundleEntry>();

  /** Reads the index of the bundle `<prefix>.index`, `<prefix>.data-*`. */
  constructor(prefix: string) {
    this.prefix = prefix;
    const file = `${prefix}.index`;
    const entries = readSstable(readWhole(file), file);
    const first = entries.shift();
    if (first === undefined || first.key.length !== 0) throw bundleError(file, 'has no header');
    this.#header = decodeHeader(first.value, file);
    for (const { key, value } of entries) {
      // Keys that begin with 00 are parts of partitioned variables, reached through the whole variable's entry.
      if (key[0] === 0) continue;
      const name = Buffer.from(key).toString('utf8');
      this.#entries.set(name, decodeEntry(value, name, file));
    }
  }

  names(): string[] {
    return [...this.#entries.keys()];
  }

  entry(name: string): BundleEntry {
    const entry = this.#entries.get(name);
    if (entry === undefined)
      throw bundleError(`${this.prefix}.index`, `Key ${name} not found in checkpoint`, { tensor: name });
    return entry;
  }

  read(name: string): BundleTensor {
    const entry = this.entry(name);
    const file = shardFileName(`${this.prefix}.data`, entry.shard, this.#header.shardCount);
    const refuse = (reason: string): never => {
      throw bundleError(file, reason, { tensor: name });
    };
    if (entry.sliceCount > 0) refuse(`tensor ${name} is partitioned, which is not supported`);
    const { width } = BUNDLE_DTYPES[entry.dtype];
    const count = elementCount(entry.shape);
    if (!Number.isSafeInteger(count)) refuse(`Invalid shape in bundle entry: key ${name}`);
    if (width > 0 && entry.size !== count * width) {
      refuse(`Invalid size in bundle entry: key ${name}; stored size ${entry.size}; expected size ${count * width}`);
    }
    const bytes = readRange(file, entry, name);
    const { data, crc } =
      width > 0 ? numbers(bytes, entry.dtype, this.#header.bigEndian) : strings(bytes, count, refuse);
    if (maskCrc(crc) !== entry.crc) {
      refuse(
        `tensor ${name}: Checksum does not match: stored ${crcHex(unmaskCrc(entry.crc))} vs. calculated on the ` +
          `restored bytes ${crcHex(crc)}`,
      );
    }
    return { name, dtype: entry.dtype, shape: entry.shape, data };
  }
}

interface Decoded {
  readonly data: BundleData;
  /** Unmasked checksum of the stored bytes. */
  readonly crc: number;
}

function numbers(bytes: Buffer<ArrayBuffer>, dtype: BundleDtype, bigEndian: boolean): Decoded {
  const crc = crc32c(bytes);
  if (bigEndian && BUNDLE_DTYPES[dtype].width === 4) bytes.swap32();
  if (bigEndian && BUNDLE_DTYPES[dtype].width === 8) bytes.swap64();
  return { data: typed(bytes.buffer, dtype), crc };
}

function typed(buffer: ArrayBuffer, dtype: BundleDtype): BundleData {
  switch (dtype) {
    case 'float32':
      return new Float32Array(buffer);
    case 'float64':
      return new Float64Array(buffer);
    case 'int32':
      return new Int32Array(buffer);
    case 'int64':
      return new BigInt64Array(buffer);
    case 'uint8':
    case 'bool':
      return new Uint8Array(buffer);
    case 'string':
      return [];
  }
}

function strings(bytes: Uint8Array, count: number, refuse: (reason: string) => never): Decoded {
  if (count > bytes.length) refuse(`holds ${bytes.length} bytes for ${count} strings`);
  const fixed = new Uint8Array(4 * count);
  const fixedView = new DataView(fixed.buffer);
  const lengths: number[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    let length = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined || scale > 2 ** 28) return refuse('string lengths are malformed');
      length += (byte & 0x7f) * scale;
      scale *= 0x80;
      if (byte < 0x80) break;
    }
    lengths.push(length);
    fixedView.setUint32(4 * i, length, true);
  }
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (at + 4 + total !== bytes.length) refuse('string lengths do not add up to the size of the tensor');
  const lengthCrc = crc32c(fixed);
  const stored = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true);
  if (stored !== maskCrc(lengthCrc)) refuse('Checksum does not match on the lengths of the strings');
  const crc = crc32c(bytes.subarray(at), lengthCrc);
  at += 4;
  const data = lengths.map((length) => {
    at += length;
    return new Uint8Array(bytes.subarray(at - length, at));
  });
  return { data, crc };
}

function readWhole(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { cause });
  }
}

/** The bytes of one entry in a buffer of their own, which typed views can begin at. */
function readRange(file: string, { offset, size }: BundleEntry, name: string): Buffer<ArrayBuffer> {
  let fd: number | null = null;
  try {
    fd = openSync(file, 'r');
    const fileBytes = fstatSync(fd).size;
    if (offset + size > fileBytes) {
      throw bundleError(file, `tensor ${name} ends at ${offset + size}, the file at ${fileBytes}`, { tensor: name });
    }
    const bytes = Buffer.from(new ArrayBuffer(size));
    for (let got = 0; got < size; ) {
      const count = readSync(fd, bytes, got, size - got, offset + got);
      if (count === 0) throw bundleError(file, `tensor ${name} is cut off`, { tensor: name });
      got += count;
    }
    return bytes;
  } catch (cause) {
    if (cause instanceof MonolithError) throw cause;
    throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { cause });
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
