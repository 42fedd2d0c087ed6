/**
 * @file Reads one shard of a table: records pass from disk through buffers of the first bank into rows.
 *
 * A thread of its own reads into one buffer that is small enough to stay near the processor, and waits for the disk. On
 * a thread that others share, one of two buffers is decoded while the other is read. What is left of a record at the
 * end of a buffer is copied to the front of the next.
 */
import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegularHandle } from '../../base/files/read-file.js';
import { DUMP_SLACK_BYTES } from '../../memory/dump-layout.js';
import { cutRecord, RowDecoder } from './row-decoder.js';
import { readError } from './row-errors.js';
import type { TableImage } from './stored-table.js';

export const READ_BUFFER_BYTES = 1 << 20;
const BLOCKING_BUFFER_BYTES = 1 << 18;

export interface LoadedShard {
  readonly rows: number;
  /** Newest time of its rows, 0 without rows. */
  readonly maxUpdateSec: number;
  readonly bytes: number;
  /** CRC-32C of the whole file. */
  readonly crc: number;
}

export interface LoadOptions {
  /** False: files are only checked to be rows of the table. */
  readonly load: boolean;
  /** The thread has nothing else to do and may wait for the disk. */
  readonly blocking?: boolean;
}

/** Loads files one after the other through the same memory, which it takes when it is made. */
export class ShardLoader {
  readonly #decoder: RowDecoder;
  readonly #buffers: ReadBuffers;

  constructor(image: TableImage, { load, blocking = false }: LoadOptions) {
    this.#decoder = new RowDecoder(image, load);
    try {
      this.#buffers = readBuffers(this.#decoder, blocking);
    } catch (cause) {
      this.#decoder.close();
      throw cause;
    }
  }

  async load(file: string): Promise<LoadedShard> {
    this.#decoder.begin();
    const pages = await FilePages.open(file, this.#decoder, this.#buffers);
    try {
      return await takeAll(pages, this.#decoder, file);
    } finally {
      await pages.close();
    }
  }

  close(): void {
    this.#decoder.close();
  }
}

/** Puts the rows of `file` into the table, or with `load` false only makes sure that all of them could be. */
export async function loadShard(image: TableImage, file: string, options: LoadOptions): Promise<LoadedShard> {
  const loader = new ShardLoader(image, options);
  try {
    return await loader.load(file);
  } finally {
    loader.close();
  }
}

async function takeAll(pages: FilePages, decoder: RowDecoder, file: string): Promise<LoadedShard> {
  let record = 0;
  let bytes = 0;
  let left = { at: 0, bytes: 0 };
  for (let page = await pages.next(left); page !== null; page = await pages.next(left)) {
    const { at, count } = decoder.take(page.begin, page.end, { file, record });
    record += count;
    bytes += at - page.begin;
    left = { at, bytes: page.end - at };
  }
  if (left.bytes > 0) {
    const header = decoder.scratch.bank.views.u8.slice(left.at, left.at + left.bytes);
    throw cutRecord(left.bytes, header, { file, record });
  }
  decoder.flush();
  return { rows: record, maxUpdateSec: decoder.maxUpdateSec, bytes, crc: decoder.crc };
}

interface Page {
  readonly begin: number;
  readonly end: number;
}

class FilePages {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #u8: Uint8Array;
  readonly #buffers: ReadBuffers;
  #which = 0;
  #pending: Promise<number> | null;

  private constructor(file: string, handle: FileHandle, u8: Uint8Array, buffers: ReadBuffers) {
    this.#file = file;
    this.#handle = handle;
    this.#u8 = u8;
    this.#buffers = buffers;
    this.#pending = this.#begin();
  }

  static async open(file: string, decoder: RowDecoder, buffers: ReadBuffers): Promise<FilePages> {
    try {
      return new FilePages(file, await openRegularHandle(file), decoder.scratch.bank.views.u8, buffers);
    } catch (cause) {
      throw readError(file, cause);
    }
  }

  /** The next bytes of the file, behind those of `left`, which are fewer than a record; null at the end of the file. */
  async next(left: { readonly at: number; readonly bytes: number }): Promise<Page | null> {
    const data = this.#buffers.data[this.#which]!;
    // With one buffer, what is left of it moves before the next bytes come over it.
    if (this.#buffers.data.length === 1) this.#u8.copyWithin(data - left.bytes, left.at, left.at + left.bytes);
    const got = this.#pending === null ? this.#readNow() : await this.#pending;
    if (got === 0) return null;
    if (this.#buffers.data.length > 1) this.#u8.copyWithin(data - left.bytes, left.at, left.at + left.bytes);
    this.#which = (this.#which + 1) % this.#buffers.data.length;
    this.#pending = this.#begin();
    return { begin: data - left.bytes, end: data + got };
  }

  async close(): Promise<void> {
    // The read under way writes into a buffer that is given back next.
    await this.#pending?.catch(() => {});
    await this.#handle.close();
  }

  #readNow(): number {
    const { data, bytes } = this.#buffers;
    try {
      return readSync(this.#handle.fd, this.#u8, data[0]!, bytes, null);
    } catch (cause) {
      throw readError(this.#file, cause);
    }
  }

  /** Starts the next read, unless there is only the one buffer to read into. */
  #begin(): Promise<number> | null {
    if (this.#buffers.data.length === 1) return null;
    const { data, bytes } = this.#buffers;
    const reading = this.#handle.read(this.#u8, data[this.#which]!, bytes, null).then(
      ({ bytesRead }) => bytesRead,
      (cause) => {
        throw readError(this.#file, cause);
      },
    );
    // Heard by `next`; until then it must not count as unheard.
    reading.catch(() => {});
    return reading;
  }
}

/** Where files are read to, with room in front for what is left of a record. */
interface ReadBuffers {
  readonly data: readonly number[];
  readonly bytes: number;
}

/**
 * One buffer or two; smaller ones in a heap that has little room, most of which should be left to rows, or one alone.
 */
function readBuffers(decoder: RowDecoder, blocking: boolean): ReadBuffers {
  const carry = Math.ceil(decoder.recordBytesMax / 64) * 64;
  const extra = carry + DUMP_SLACK_BYTES;
  const which = blocking ? [0] : [0, 1];
  // The heap hands out powers of two, so the extra is taken from what is read.
  const least = 2 ** Math.ceil(Math.log2(2 * extra));
  const most =
    2 ** Math.floor(Math.log2(Math.max(1, Math.min(decoder.scratch.freeBytes / 16, decoder.scratch.heapBytes / 64))));
  const wanted = blocking ? BLOCKING_BUFFER_BYTES : READ_BUFFER_BYTES;
  for (let bytes = Math.max(Math.min(wanted, most), least); bytes > least; bytes /= 2) {
    const blocks = which.map(() => decoder.scratch.alloc(bytes));
    if (!blocks.includes(0)) return { data: blocks.map((at) => at + carry), bytes: bytes - extra };
  }
  const [first, second] = [decoder.alloc(least), blocking ? 0 : decoder.scratch.alloc(least)];
  return { data: [first, second].filter((at) => at !== 0).map((at) => at + carry), bytes: least - extra };
}
