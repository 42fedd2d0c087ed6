/**
 * @file LevelDB-style sorted table, the container of a tensor bundle's index.
 *
 * Whole tables are built and read in memory: an index holds names and offsets, not data.
 */

import { crc32c, crcHex, maskCrc } from '../base/crc32c.js';
import { MonolithError } from '../base/errors.js';
import { checkLimit, type LimitName } from '../base/limits.js';
import { putVarint } from './proto-writer.js';
import { snappyUncompress } from './snappy.js';
import { BlockBuilder, readBlock, type TableEntry } from './sstable-block.js';

const MAGIC = 0xdb4775248b80fb57n;
const FOOTER_BYTES = 48;
const TRAILER_BYTES = 5;
const BLOCK_BYTES = 262144;
/** An entry of this size or more begins a block of its own. */
const LARGE_ENTRY_BYTES = 2 * BLOCK_BYTES;
const RESTART_INTERVAL = 16;
const TYPE_RAW = 0;
const TYPE_SNAPPY = 1;

interface Handle {
  readonly offset: number;
  readonly size: number;
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

/** Builds a table from entries added in ascending key order. */
export class SstableWriter {
  readonly #parts: Uint8Array[] = [];
  #offset = 0;
  #block = new BlockBuilder(RESTART_INTERVAL);
  readonly #index = new BlockBuilder(1);
  #pending: { readonly lastKey: Uint8Array; readonly handle: Handle } | null = null;
  #lastKey: Uint8Array | null = null;

  add(key: Uint8Array, value: Uint8Array): void {
    if (this.#lastKey !== null && compareBytes(this.#lastKey, key) >= 0) {
      throw new RangeError(`keys of a table must ascend: ${text(this.#lastKey)} then ${text(key)}`);
    }
    if (key.length + value.length >= LARGE_ENTRY_BYTES) this.#closeBlock();
    this.#indexPending(key);
    this.#block.add(key, value);
    this.#lastKey = new Uint8Array(key);
    if (this.#block.sizeBytes >= BLOCK_BYTES) this.#closeBlock();
  }

  /** The whole file. */
  finish(): Uint8Array<ArrayBuffer> {
    this.#closeBlock();
    this.#indexPending(null);
    const metaHandle = this.#append(new BlockBuilder(RESTART_INTERVAL).finish());
    const indexHandle = this.#append(this.#index.finish());
    const footer = new Uint8Array(FOOTER_BYTES);
    let at = 0;
    for (const { offset, size } of [metaHandle, indexHandle]) {
      at = putVarint(footer, at, offset);
      at = putVarint(footer, at, size);
    }
    new DataView(footer.buffer).setBigUint64(FOOTER_BYTES - 8, MAGIC, true);
    this.#parts.push(footer);
    const whole = new Uint8Array(this.#offset + FOOTER_BYTES);
    let position = 0;
    for (const part of this.#parts) {
      whole.set(part, position);
      position += part.length;
    }
    return whole;
  }

  #closeBlock(): void {
    if (this.#block.count === 0) return;
    const lastKey = this.#block.lastKey;
    this.#pending = { lastKey, handle: this.#append(this.#block.finish()) };
    this.#block = new BlockBuilder(RESTART_INTERVAL);
  }

  /** Adds the index entry of the last closed block, once the first key after it is known. */
  #indexPending(nextKey: Uint8Array | null): void {
    if (this.#pending === null) return;
    const { lastKey, handle } = this.#pending;
    this.#pending = null;
    const key = nextKey === null ? shortSuccessor(lastKey) : shortSeparator(lastKey, nextKey);
    const value = new Uint8Array(20);
    const end = putVarint(value, putVarint(value, 0, handle.offset), handle.size);
    this.#index.add(key, value.subarray(0, end));
  }

  #append(block: Uint8Array): Handle {
    const handle = { offset: this.#offset, size: block.length };
    const stored = new Uint8Array(block.length + TRAILER_BYTES);
    stored.set(block);
    stored[block.length] = TYPE_RAW;
    const crc = crc32c(stored.subarray(0, block.length + 1));
    new DataView(stored.buffer).setUint32(block.length + 1, maskCrc(crc), true);
    this.#parts.push(stored);
    this.#offset += stored.length;
    return handle;
  }
}

/** A short key k with last <= k < next. */
function shortSeparator(last: Uint8Array, next: Uint8Array): Uint8Array {
  let at = 0;
  while (at < last.length && at < next.length && last[at] === next[at]) at++;
  const byte = last[at];
  const bound = next[at];
  if (byte === undefined || bound === undefined || byte === 0xff || byte + 1 >= bound) return last;
  return incrementedAt(last, at);
}

function shortSuccessor(last: Uint8Array): Uint8Array {
  const at = last.findIndex((byte) => byte !== 0xff);
  return at < 0 ? last : incrementedAt(last, at);
}

function incrementedAt(key: Uint8Array, at: number): Uint8Array {
  const cut = new Uint8Array(key.subarray(0, at + 1)); // not slice(): that of a Buffer shares memory
  cut[at] = cut[at]! + 1;
  return cut;
}

/** All entries of a table in key order. `file` names it in errors; every block's checksum is verified. */
export function readSstable(bytes: Uint8Array, file: string): TableEntry[] {
  const reader = new SstableReader(bytes, file);
  return reader.entries();
}

class SstableReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #file: string;
  #decodedBytes = 0;
  #keysBytes = 0;

  constructor(bytes: Uint8Array, file: string) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#file = file;
  }

  entries(): TableEntry[] {
    const footerAt = this.#bytes.length - FOOTER_BYTES;
    if (footerAt < 0) this.#refuse('footer', 'file is too short to be an sstable');
    if (this.#view.getBigUint64(footerAt + 40, true) !== MAGIC) {
      this.#refuse('footer', 'not an sstable (bad magic number)');
    }
    const footer = this.#bytes.subarray(footerAt, footerAt + 40);
    const meta = this.#handle(footer, 0, 'footer');
    const index = this.#handle(footer, meta.end, 'footer');
    const found: TableEntry[] = [];
    for (const { value } of this.#block(index.handle, 'index block')) {
      const { handle } = this.#handle(value, 0, 'index block');
      for (const entry of this.#block(handle, `block at ${handle.offset}`)) {
        const last = found.at(-1);
        if (last !== undefined && compareBytes(last.key, entry.key) >= 0) {
          this.#refuse(`block at ${handle.offset}`, `key ${text(entry.key)} is out of order`);
        }
        found.push(entry);
        this.#keysBytes += entry.key.length;
        this.#check('indexEntries', found.length, 'the number of entries');
        this.#check('indexKeysBytes', this.#keysBytes, 'the size of all keys');
      }
    }
    return found;
  }

  #handle(bytes: Uint8Array, at: number, field: string): { handle: Handle; end: number } {
    let position = at;
    const varint = (): number => {
      let value = 0;
      for (let scale = 1; scale <= 2 ** 42; scale *= 0x80) {
        const byte = bytes[position++];
        if (byte === undefined) break;
        value += (byte & 0x7f) * scale;
        if (byte < 0x80) return value;
      }
      return this.#refuse(field, 'a block handle is malformed');
    };
    const handle = { offset: varint(), size: varint() };
    return { handle, end: position };
  }

  #block({ offset, size }: Handle, field: string): Generator<TableEntry> {
    const end = offset + size;
    if (end + TRAILER_BYTES > this.#bytes.length - FOOTER_BYTES) this.#refuse(field, 'lies outside the file');
    const stored = this.#view.getUint32(end + 1, true);
    const found = maskCrc(crc32c(this.#bytes.subarray(offset, end + 1)));
    if (stored !== found) {
      this.#refuse(field, `block checksum mismatch: stored ${crcHex(stored)}, calculated ${crcHex(found)}`);
    }
    const content = this.#content(offset, end, field);
    // All blocks together: any number of handles may lead to the same one.
    this.#decodedBytes += content.length;
    this.#check('indexDecodedBytes', this.#decodedBytes, 'the size of all blocks');
    return readBlock(content, (reason) => this.#refuse(field, reason));
  }

  #content(begin: number, end: number, field: string): Uint8Array {
    const block = this.#bytes.subarray(begin, end);
    switch (this.#bytes[end]) {
      case TYPE_RAW:
        return block;
      case TYPE_SNAPPY:
        return snappyUncompress(block);
      default:
        return this.#refuse(field, `block type ${this.#bytes[end]} is unknown`);
    }
  }

  #check(limit: LimitName, found: number, what: string): void {
    checkLimit(limit, found, (reason) => this.#refuse('index block', `${what}: ${reason}`));
  }

  #refuse(field: string, reason: string): never {
    throw new MonolithError('ML_SSTABLE', { file: this.#file, field, reason });
  }
}

function text(key: Uint8Array): string {
  return JSON.stringify(Buffer.from(key).toString('latin1'));
}
