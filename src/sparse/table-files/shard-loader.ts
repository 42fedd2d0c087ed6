/**
 * @file Reads one shard of a table: records pass from disk through two buffers of the first bank into rows.
 *
 * One buffer is decoded while the other is read. What is left of a record at the end of a buffer is copied to the front
 * of the next.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { DUMP_SLACK_BYTES } from '../../memory/dump-layout.js';
import { cutRecord, RowDecoder } from './row-decoder.js';
import { readError } from './row-errors.js';
import type { TableImage } from './stored-table.js';

export const READ_BUFFER_BYTES = 1 << 20;
const READ_BUFFER_BYTES_MIN = 1 << 15;

export interface LoadedShard {
  readonly rows: number;
  /** Newest time of its rows, 0 without rows. */
  readonly maxUpdateSec: number;
  readonly bytes: number;
  /** CRC-32C of the whole file. */
  readonly crc: number;
}

/** Puts the rows of `file` into the table, or with `load` false only makes sure that all of them could be. */
export async function loadShard(image: TableImage, file: string, load: boolean): Promise<LoadedShard> {
  const decoder = new RowDecoder(image, load);
  try {
    const pages = await FilePages.open(file, decoder);
    try {
      return await takeAll(pages, decoder, file);
    } finally {
      await pages.close();
    }
  } finally {
    decoder.close();
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
  readonly #carryBytes: number;
  readonly #buffers: readonly [number, number];
  readonly #readBytes: number;
  #which = 0;
  #pending: Promise<number>;

  private constructor(file: string, handle: FileHandle, decoder: RowDecoder) {
    this.#file = file;
    this.#handle = handle;
    this.#u8 = decoder.scratch.bank.views.u8;
    this.#carryBytes = Math.ceil(decoder.recordBytesMax / 64) * 64;
    const { blocks, bytes } = twoBuffers(decoder, this.#carryBytes + DUMP_SLACK_BYTES);
    this.#buffers = blocks;
    this.#readBytes = bytes;
    this.#pending = this.#read();
  }

  static async open(file: string, decoder: RowDecoder): Promise<FilePages> {
    let handle: FileHandle;
    try {
      handle = await open(file, 'r');
    } catch (cause) {
      throw readError(file, cause);
    }
    try {
      return new FilePages(file, handle, decoder);
    } catch (cause) {
      await handle.close();
      throw cause;
    }
  }

  /** The next bytes of the file, behind those of `left`, which are fewer than a record; null at the end of the file. */
  async next(left: { readonly at: number; readonly bytes: number }): Promise<Page | null> {
    const got = await this.#pending;
    if (got === 0) return null;
    const data = this.#buffers[this.#which]! + this.#carryBytes;
    this.#u8.copyWithin(data - left.bytes, left.at, left.at + left.bytes);
    this.#which ^= 1;
    this.#pending = this.#read();
    return { begin: data - left.bytes, end: data + got };
  }

  async close(): Promise<void> {
    // The read under way writes into a buffer that is given back next.
    await this.#pending.catch(() => {});
    await this.#handle.close();
  }

  #read(): Promise<number> {
    const at = this.#buffers[this.#which]! + this.#carryBytes;
    const reading = this.#handle.read(this.#u8, at, this.#readBytes, null).then(
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

/** Two blocks with `extra` bytes beside what is read into them; smaller ones when the heap is nearly full. */
function twoBuffers(decoder: RowDecoder, extra: number): { blocks: readonly [number, number]; bytes: number } {
  for (let bytes = READ_BUFFER_BYTES; bytes > READ_BUFFER_BYTES_MIN; bytes /= 2) {
    // The heap hands out powers of two, so the extra is taken from what is read.
    const blocks = [decoder.scratch.alloc(bytes), decoder.scratch.alloc(bytes)] as const;
    if (!blocks.includes(0)) return { blocks, bytes: bytes - extra };
  }
  const bytes = READ_BUFFER_BYTES_MIN + extra;
  return { blocks: [decoder.alloc(bytes), decoder.alloc(bytes)], bytes: READ_BUFFER_BYTES_MIN };
}
