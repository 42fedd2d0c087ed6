/**
 * @file Reads a tensor bundle, verifying every checksum before a value is handed out.
 */
import { closeSync, readSync } from 'node:fs';
import { crc32c, crcHex, maskCrc, unmaskCrc } from '../base/crc32c.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { openRegular, readWhole } from '../base/files/read-file.js';
import { checkLimit } from '../base/limits.js';
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
  isBundleDtype,
  sliceKey,
} from './bundle-format.js';
import { joinParts } from './bundle-parts.js';
import { shardFileName } from './shard-files.js';
import { readSstable } from './sstable.js';

export class BundleReader {
  readonly prefix: string;
  readonly #header: BundleHeader;
  readonly #entries = new Map<string, BundleEntry>();
  /** Entries of the parts of partitioned variables, by key. */
  readonly #parts = new Map<string, BundleEntry>();
  /** Bytes of all tensors in each data file. */
  readonly #claimedBytes = new Map<number, number>();

  /** Reads the index of the bundle `<prefix>.index`, `<prefix>.data-*`. */
  constructor(prefix: string) {
    this.prefix = prefix;
    const file = `${prefix}.index`;
    const entries = readSstable(readIndex(file), file);
    const first = entries.shift();
    if (first === undefined || first.key.length !== 0) throw bundleError(file, 'has no header');
    this.#header = decodeHeader(first.value, file);
    for (const { key, value } of entries) {
      // Keys that begin with 00 are parts of partitioned variables, reached through the whole variable's entry.
      const entry = decodeEntry(value);
      if (key[0] === 0) this.#parts.set(Buffer.from(key).toString('latin1'), entry);
      else this.#entries.set(Buffer.from(key).toString('utf8'), entry);
      this.#claimedBytes.set(entry.shard, (this.#claimedBytes.get(entry.shard) ?? 0) + entry.size);
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

  /** The values of a tensor; those of a partitioned variable are put together. */
  read(name: string): BundleTensor {
    const entry = this.entry(name);
    return entry.parts.length === 0 ? this.#readEntry(name, entry) : this.#readParts(name, entry);
  }

  #readParts(name: string, { dtype, shape, parts }: BundleEntry): BundleTensor {
    const read = parts.map((extents) => {
      const stored = this.#parts.get(Buffer.from(sliceKey(name, extents)).toString('latin1'));
      if (stored === undefined) {
        throw bundleError(`${this.prefix}.index`, `a part of ${name} is missing`, { tensor: name });
      }
      return { extents, ...this.#readEntry(name, stored) };
    });
    if (read.some((part) => part.dtype !== dtype)) {
      throw bundleError(`${this.prefix}.index`, `parts of ${name} have other element types`, { tensor: name });
    }
    const whole = joinParts(shape, read);
    if (whole !== null) return { name, dtype: read[0]!.dtype, shape, data: whole };
    throw bundleError(`${this.prefix}.index`, `the parts of ${name} do not make it up`, { tensor: name });
  }

  #readEntry(name: string, entry: BundleEntry): BundleTensor {
    const file = shardFileName(`${this.prefix}.data`, entry.shard, this.#header.shardCount);
    const refuse = (reason: string): never => {
      throw bundleError(file, reason, { tensor: name });
    };
    const { dtype } = entry;
    if (!isBundleDtype(dtype)) return refuse(`tensor ${name} has ${dtype}, which is not supported`);
    const { width } = BUNDLE_DTYPES[dtype];
    const count = elementCount(entry.shape);
    if (!Number.isSafeInteger(count)) refuse(`Invalid shape in bundle entry: key ${name}`);
    if (width > 0 && entry.size !== count * width) {
      refuse(`Invalid size in bundle entry: key ${name}; stored size ${entry.size}; expected size ${count * width}`);
    }
    checkLimit('tensorBytes', entry.size, (reason) => refuse(`the size of tensor ${name}: ${reason}`));
    const bytes = readRange(file, entry, name, this.#claimedBytes.get(entry.shard)!);
    const { data, crc } = width > 0 ? numbers(bytes, dtype, this.#header.bigEndian) : strings(bytes, count, refuse);
    if (maskCrc(crc) !== entry.crc) {
      refuse(
        `tensor ${name}: Checksum does not match: stored ${crcHex(unmaskCrc(entry.crc))} vs. calculated on the ` +
          `restored bytes ${crcHex(crc)}`,
      );
    }
    return { name, dtype, shape: entry.shape, data };
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
  checkLimit('tensorStrings', count, (reason) => refuse(`the number of strings ${reason}`));
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

function readIndex(file: string): Uint8Array {
  try {
    return readWhole(file, 'indexBytes');
  } catch (cause) {
    throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { cause });
  }
}

/** The bytes of one entry in a buffer of their own, which typed views can begin at. */
function readRange(
  file: string,
  { offset, size }: BundleEntry,
  name: string,
  claimedBytes: number,
): Buffer<ArrayBuffer> {
  let fd: number | null = null;
  try {
    const opened = openRegular(file);
    fd = opened.fd;
    const fileBytes = opened.bytes;
    if (offset + size > fileBytes) {
      throw bundleError(file, `tensor ${name} ends at ${offset + size}, the file at ${fileBytes}`, { tensor: name });
    }
    // Tensors do not overlap: an index that has them do so makes many times the file of it.
    if (claimedBytes > fileBytes)
      throw bundleError(file, `its tensors have ${claimedBytes} bytes, it has ${fileBytes}`);
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
