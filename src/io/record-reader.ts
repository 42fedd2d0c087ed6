/**
 * @file Reads TFRecord files one record at a time through a fixed buffer.
 *
 * The file is read synchronously: readers run in data threads or at start-up, and a record costs no promise. A clean
 * end of file on a record boundary ends the data; anything else is ML_RECORD with file, record number and field.
 */
import { closeSync, readSync } from 'node:fs';
import { crc32c, crcHex, maskCrc } from '../base/crc32c.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { openToRead } from '../base/files/read-file.js';
import { checkLimit } from '../base/limits.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from './record-writer.js';

export interface RecordReaderOptions {
  readonly bufferBytes?: number;
}

export class RecordReader implements Iterable<Uint8Array> {
  readonly file: string;
  #fd: number | null;
  readonly #fileBytes: number;
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #begin = 0;
  #end = 0;
  /** Position in the file of the first byte of the buffer that is not consumed. */
  #offset = 0;
  #record = 0;
  #fileCrc = 0;
  #lastSize = -1;
  #lastSizeCrc = 0;

  constructor(file: string, options: RecordReaderOptions = {}) {
    this.file = file;
    this.#bytes = new Uint8Array(Math.max(options.bufferBytes ?? 1 << 20, RECORD_HEADER_BYTES));
    this.#view = new DataView(this.#bytes.buffer);
    const { fd, bytes } = openToRead(file);
    this.#fd = fd;
    this.#fileBytes = bytes;
  }

  /** Number of the record that `next` returns next, from 0. */
  get record(): number {
    return this.#record;
  }

  /** Bytes of the file consumed so far. */
  get offset(): number {
    return this.#offset;
  }

  /** CRC-32C of all bytes read from disk: of the whole file once `next` has returned null. */
  get fileCrc(): number {
    return this.#fileCrc;
  }

  /** The next payload, or null at the end. The view is valid until the next call. */
  next(): Uint8Array | null {
    const headerBytes = this.#fill(RECORD_HEADER_BYTES);
    if (headerBytes === 0) return null;
    if (headerBytes < RECORD_HEADER_BYTES) {
      throw this.#error('length', `file ends after ${headerBytes} of ${RECORD_HEADER_BYTES} header bytes`);
    }
    const size = this.#checkedSize();
    const recordBytes = RECORD_HEADER_BYTES + size + RECORD_FOOTER_BYTES;
    if (this.#offset + recordBytes > this.#fileBytes) this.#refuseCut(size);
    checkLimit('recordBytes', size, (reason) => {
      throw this.#error('length', reason);
    });
    if (this.#fill(recordBytes) < recordBytes) this.#refuseCut(size);
    const at = this.#begin + RECORD_HEADER_BYTES;
    const payload = this.#bytes.subarray(at, at + size);
    const stored = this.#view.getUint32(at + size, true);
    const found = maskCrc(crc32c(payload));
    if (stored !== found) throw this.#mismatch('payload', stored, found);
    this.#begin += recordBytes;
    this.#offset += recordBytes;
    this.#record++;
    return payload;
  }

  /** Payloads to the end; closes the file, also when the loop is left early. */
  *[Symbol.iterator](): Iterator<Uint8Array> {
    try {
      for (let payload = this.next(); payload !== null; payload = this.next()) yield payload;
    } finally {
      this.close();
    }
  }

  close(): void {
    if (this.#fd === null) return;
    const fd = this.#fd;
    this.#fd = null;
    closeSync(fd);
  }

  #checkedSize(): number {
    const low = this.#view.getUint32(this.#begin, true);
    const high = this.#view.getUint32(this.#begin + 4, true);
    const size = high * 2 ** 32 + low;
    if (size !== this.#lastSize) {
      this.#lastSizeCrc = maskCrc(crc32c(this.#bytes.subarray(this.#begin, this.#begin + 8)));
      this.#lastSize = size;
    }
    const stored = this.#view.getUint32(this.#begin + 8, true);
    if (stored !== this.#lastSizeCrc) throw this.#mismatch('length', stored, this.#lastSizeCrc);
    return size;
  }

  #refuseCut(size: number): never {
    const left = this.#fileBytes - this.#offset - RECORD_HEADER_BYTES;
    throw this.#error('payload', `file ends after ${left} of ${size + RECORD_FOOTER_BYTES} bytes`);
  }

  /** Tries to have `count` unconsumed bytes in the buffer; returns how many of them there are. */
  #fill(count: number): number {
    if (this.#end - this.#begin >= count) return count;
    if (count > this.#bytes.length - this.#begin) this.#makeRoom(count);
    while (this.#end - this.#begin < count) {
      const got = this.#read();
      if (got === 0) break;
      this.#fileCrc = crc32c(this.#bytes.subarray(this.#end, this.#end + got), this.#fileCrc);
      this.#end += got;
    }
    return Math.min(count, this.#end - this.#begin);
  }

  #makeRoom(count: number): void {
    const rest = this.#bytes.subarray(this.#begin, this.#end);
    if (count > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(count, Math.min(2 * this.#bytes.length, this.#fileBytes)));
      grown.set(rest);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    } else {
      this.#bytes.copyWithin(0, this.#begin, this.#end);
    }
    this.#end = rest.length;
    this.#begin = 0;
  }

  #read(): number {
    if (this.#fd === null) throw new MonolithError('ML_CLOSED', { what: `record file ${this.file}` });
    try {
      return readSync(this.#fd, this.#bytes, this.#end, this.#bytes.length - this.#end, null);
    } catch (cause) {
      throw new MonolithError('ML_FILE_READ', { file: this.file, reason: messageOf(cause) }, { cause });
    }
  }

  #mismatch(field: string, stored: number, found: number): MonolithError {
    return this.#error(`${field} checksum`, `stored ${crcHex(stored)}, calculated ${crcHex(found)}`);
  }

  #error(field: string, reason: string): MonolithError {
    return new MonolithError('ML_RECORD', {
      file: this.file,
      record: this.#record,
      field,
      offset: this.#offset,
      reason,
    });
  }
}
