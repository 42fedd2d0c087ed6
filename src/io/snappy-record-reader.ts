/**
 * @file Reads records out of a stream of snappy blocks, the form of multi-table files: each block comes after its
 * compressed length as a big-endian u32 and knows nothing of where records begin.
 *
 * Holds one block and at most one record more. Records are taken one by one with `next`, or many at a time out of what
 * `peek` shows, unchecked then. Damage is ML_RECORD with file, record number and field.
 */
import { closeSync, readSync } from 'node:fs';
import { crc32c, crcHex, maskCrc } from '../base/crc32c.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { openToRead } from '../base/files/read-file.js';
import { checkLimit, LIMITS } from '../base/limits.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from './record-writer.js';
import { snappyUncompress } from './snappy.js';
import { snappyMaxBytes } from './snappy-writer.js';

const LENGTH_BYTES = 4;
const BLOCK_BYTES_MAX = snappyMaxBytes(LIMITS.snappyBlockBytes);

export class SnappyRecordReader {
  readonly file: string;
  #fd: number | null;
  readonly #fileBytes: number;
  #offset = 0;
  #record = 0;
  /** Decoded bytes that are not consumed yet. */
  #decoded: Uint8Array = new Uint8Array(0);

  constructor(file: string) {
    this.file = file;
    const { fd, bytes } = openToRead(file);
    this.#fd = fd;
    this.#fileBytes = bytes;
  }

  /** Number of the record that `next` returns next, from 0. */
  get record(): number {
    return this.#record;
  }

  /** Bytes of the file read so far. */
  get offset(): number {
    return this.#offset;
  }

  /** The next payload, or null at the end. The view is valid until the next call. */
  next(): Uint8Array | null {
    const headerBytes = this.#fill(RECORD_HEADER_BYTES);
    if (headerBytes === 0) return null;
    if (headerBytes < RECORD_HEADER_BYTES) throw this.#error('length', 'the data ends inside the header');
    const header = viewOf(this.#decoded);
    this.#check('length', header.getUint32(8, true), this.#decoded.subarray(0, 8));
    const size = header.getUint32(4, true) * 2 ** 32 + header.getUint32(0, true);
    checkLimit('recordBytes', size, (reason) => {
      throw this.#error('length', reason);
    });
    const recordBytes = RECORD_HEADER_BYTES + size + RECORD_FOOTER_BYTES;
    const got = this.#fill(recordBytes);
    if (got < recordBytes) throw this.#error('payload', `the data ends after ${got} of ${recordBytes} bytes`);
    const payload = this.#decoded.subarray(RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + size);
    this.#check('payload', viewOf(this.#decoded).getUint32(RECORD_HEADER_BYTES + size, true), payload);
    this.#decoded = this.#decoded.subarray(recordBytes);
    this.#record++;
    return payload;
  }

  /** At most `count` of the bytes that are decoded and not consumed. */
  peek(count: number): Uint8Array {
    return this.#decoded.subarray(0, count);
  }

  /** Passes over `bytes` decoded bytes, which were `records` whole records. */
  consume(bytes: number, records: number): void {
    this.#decoded = this.#decoded.subarray(bytes);
    this.#record += records;
  }

  /** Decodes more behind the bytes of `peek`; false at the end of the file. */
  fill(): boolean {
    // At least as much again as there is, so that tiny blocks are not copied over and over.
    const before = this.#decoded.length;
    this.#fill(Math.max(1, 2 * before));
    return this.#decoded.length > before;
  }

  close(): void {
    if (this.#fd === null) return;
    const fd = this.#fd;
    this.#fd = null;
    closeSync(fd);
  }

  /** Tries to have `count` decoded bytes; returns how many of them there are. */
  #fill(count: number): number {
    if (this.#decoded.length >= count) return count;
    // Into one array that grows, not a list of blocks: a block may be of one byte, and many times that as an object.
    let bytes = this.#decoded;
    let { length } = bytes;
    while (length < count) {
      const block = this.#nextBlock();
      if (block === null) break;
      const end = length + block.length;
      if (length === 0) bytes = block;
      else {
        if (end > bytes.length) bytes = grown(bytes.subarray(0, length), Math.max(end, Math.min(count, 2 * end)));
        bytes.set(block, length);
      }
      length = end;
    }
    this.#decoded = bytes.subarray(0, length);
    return Math.min(count, length);
  }

  #nextBlock(): Uint8Array | null {
    const left = this.#fileBytes - this.#offset;
    if (left === 0) return null;
    if (left < LENGTH_BYTES) throw this.#error('block', 'the file ends inside the length of a block');
    const size = viewOf(this.#read(LENGTH_BYTES)).getUint32(0);
    if (size > left - LENGTH_BYTES) {
      throw this.#error('block', `the file ends after ${left - LENGTH_BYTES} of ${size} bytes`);
    }
    if (size > BLOCK_BYTES_MAX) throw this.#error('block', `has ${size} bytes, at most ${BLOCK_BYTES_MAX} make sense`);
    try {
      return snappyUncompress(this.#read(size));
    } catch (cause) {
      if (!(cause instanceof MonolithError) || cause.code !== 'ML_SNAPPY') throw cause;
      throw this.#error('block', String(cause.fields.reason), cause);
    }
  }

  #read(count: number): Uint8Array {
    if (this.#fd === null) throw new MonolithError('ML_CLOSED', { what: `record file ${this.file}` });
    const bytes = new Uint8Array(count);
    try {
      for (let at = 0; at < count; ) {
        const got = readSync(this.#fd, bytes, at, count - at, null);
        if (got === 0) throw new RangeError('the file became shorter while it was read');
        at += got;
      }
    } catch (cause) {
      throw new MonolithError('ML_FILE_READ', { file: this.file, reason: messageOf(cause) }, { cause });
    }
    this.#offset += count;
    return bytes;
  }

  #check(field: string, stored: number, bytes: Uint8Array): void {
    const found = maskCrc(crc32c(bytes));
    if (stored === found) return;
    throw this.#error(`${field} checksum`, `stored ${crcHex(stored)}, calculated ${crcHex(found)}`);
  }

  #error(field: string, reason: string, cause?: unknown): MonolithError {
    const fields = { file: this.file, record: this.#record, field, offset: this.#offset, reason };
    return new MonolithError('ML_RECORD', fields, { cause });
  }
}

function grown(bytes: Uint8Array, size: number): Uint8Array {
  const copy = new Uint8Array(size);
  copy.set(bytes);
  return copy;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
