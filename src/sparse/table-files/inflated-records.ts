/** @file The records inside a Snappy stream file, block by block. */
import { type FileHandle, open } from 'node:fs/promises';
import { MonolithError } from '../../base/errors.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import { snappyUncompress } from '../../io/snappy.js';
import { cutRecord, framedPayload } from './row-decoder.js';
import { corruptRecord, type RecordPlace, readError } from './row-errors.js';

/** A compressed block is hardly larger than the 256 KiB it holds; more is damage, not data. */
const BLOCK_BYTES_MAX = 1 << 24;

export class InflatedRecords {
  readonly #file: string;
  readonly #handle: FileHandle;
  #bytes = new Uint8Array(0);
  #record = 0;

  private constructor(file: string, handle: FileHandle) {
    this.#file = file;
    this.#handle = handle;
  }

  static async open(file: string): Promise<InflatedRecords> {
    try {
      return new InflatedRecords(file, await open(file, 'r'));
    } catch (cause) {
      throw readError(file, cause);
    }
  }

  /** Number of the next record of the file. */
  get place(): RecordPlace {
    return { file: this.#file, record: this.#record };
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  /** At most `count` of the bytes that are inflated and not consumed. */
  peek(count: number): Uint8Array {
    return this.#bytes.subarray(0, count);
  }

  /** Passes over `bytes` bytes, which were `records` whole records. */
  consume(bytes: number, records: number): void {
    this.#bytes = this.#bytes.subarray(bytes);
    this.#record += records;
  }

  /** Inflates one more block. ML_CKPT_CORRUPT at the end of the file: whoever asks for more was promised more. */
  async fill(): Promise<void> {
    const block = await this.#nextBlock();
    if (block === null) {
      if (this.isEmpty) throw corruptRecord(this.place, 'payload', 'Parse entry failed! the file ends early');
      throw cutRecord(this.#bytes.length, this.#bytes, this.place);
    }
    const joined = new Uint8Array(this.#bytes.length + block.length);
    joined.set(this.#bytes);
    joined.set(block, this.#bytes.length);
    this.#bytes = joined;
  }

  /** Passes over records, whose checksums are checked all the same. */
  async skip(records: number): Promise<void> {
    for (let left = records; left > 0; ) {
      const payload = framedPayload(this.#bytes, this.place, BLOCK_BYTES_MAX);
      if (payload === null) await this.fill();
      else {
        this.consume(payload.length + RECORD_HEADER_BYTES + RECORD_FOOTER_BYTES, 1);
        left--;
      }
    }
  }

  async expectEnd(): Promise<void> {
    if (!this.isEmpty || (await this.#nextBlock()) !== null) {
      throw corruptRecord(this.place, 'payload', 'the metadata tells of fewer records than there are');
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #nextBlock(): Promise<Uint8Array | null> {
    const size = await this.#read(4);
    if (size.length === 0) return null;
    const bytes = size.length === 4 ? new DataView(size.buffer, size.byteOffset).getUint32(0) : -1;
    if (bytes < 0 || bytes > BLOCK_BYTES_MAX) throw this.#corrupt('a block length is cut off or too large');
    const block = await this.#read(bytes);
    if (block.length < bytes) throw this.#corrupt(`a block ends after ${block.length} of ${bytes} bytes`);
    try {
      return snappyUncompress(block);
    } catch (cause) {
      if (!(cause instanceof MonolithError)) throw cause;
      throw this.#corrupt(String(cause.fields.reason), cause);
    }
  }

  #corrupt(reason: string, cause?: unknown): MonolithError {
    return corruptRecord(this.place, 'block', reason, cause);
  }

  async #read(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count);
    let at = 0;
    try {
      while (at < count) {
        const { bytesRead } = await this.#handle.read(bytes, at, count - at, null);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
    } catch (cause) {
      throw readError(this.#file, cause);
    }
    return bytes.subarray(0, at);
  }
}
