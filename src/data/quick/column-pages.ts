/** @file The pages of one column of a row group, one after the other, each in memory while it is used. */
import type { ColumnMetaData } from 'hyparquet';
import { messageOf } from '../../base/errors.js';
import { LIMITS, overLimit } from '../../base/limits.js';
import { CutOff } from '../../io/thrift.js';
import { damaged, type ParquetFile } from '../files/parquet-file.js';
import type { ParquetGroup } from '../files/parquet-groups.js';
import type { PageCodec } from './page-codec.js';
import { ENCODING, type PageHeader, pageHeader } from './page-header.js';
import type { PageMemory, Room } from './page-memory.js';

/** Bytes in memory. */
export interface Bytes {
  readonly at: number;
  readonly end: number;
}

export interface Page {
  readonly header: PageHeader;
  readonly repeats: Bytes;
  readonly presence: Bytes;
  readonly values: Bytes;
}

/** Bytes of a header that are read at first, and at most: statistics in it may be long. */
const [HEADER_BYTES, HEADER_BYTES_MAX] = [256, 1 << 20];
const NONE: Bytes = { at: 0, end: 0 };

export class ColumnPages {
  readonly #file: ParquetFile;
  readonly #codec: PageCodec;
  readonly #memory: PageMemory;
  readonly #name: string;
  readonly #levels: { readonly repeats: boolean; readonly presence: boolean };
  readonly #page: Room;
  readonly #dictionary: Room;
  #header = new Uint8Array(HEADER_BYTES);
  #chunk!: ColumnMetaData;
  #group = 0;
  #at = 0;
  #end = 0;

  constructor(
    { file, codec, memory }: { readonly file: ParquetFile; readonly codec: PageCodec; readonly memory: PageMemory },
    name: string,
    levels: { readonly repeats: boolean; readonly presence: boolean },
  ) {
    this.#file = file;
    this.#codec = codec;
    this.#memory = memory;
    this.#name = name;
    this.#levels = levels;
    this.#page = memory.room();
    this.#dictionary = memory.room();
  }

  /** Begins with the first page of the column in a group. */
  open(group: ParquetGroup, chunk: ColumnMetaData): void {
    this.#chunk = chunk;
    this.#group = group.index;
    const data = Number(chunk.data_page_offset);
    const dictionary = Number(chunk.dictionary_page_offset ?? 0);
    this.#at = dictionary > 0 && dictionary < data ? dictionary : data;
    this.#end = this.#at + Number(chunk.total_compressed_size);
    const isThere = this.#at >= 0 && this.#end >= this.#at && this.#end <= this.#file.bytes;
    if (!isThere) throw this.damaged(`its pages are from byte ${this.#at} to ${this.#end} of ${this.#file.bytes}`);
  }

  /** The next page, which takes the place of the one before; undefined behind the last. */
  next(): Page | undefined {
    while (this.#at < this.#end) {
      const header = this.#nextHeader();
      const piece = { at: this.#at + header.bytes, bytes: header.compressedBytes };
      const { decodedBytes } = header;
      if (piece.bytes > this.#end - piece.at) throw this.damaged(`a page of ${piece.bytes} bytes is cut off`);
      const largest = Math.max(decodedBytes, piece.bytes);
      if (largest > LIMITS.pageBytes) throw this.damaged(`a page of ${overLimit('pageBytes', largest)}`);
      this.#at = piece.at + piece.bytes;
      if (header.kind === 'other') continue;
      const room = header.kind === 'dictionary' ? this.#dictionary : this.#page;
      try {
        return this.#read(header, piece, this.#memory.fit(room, decodedBytes));
      } catch (cause) {
        if (cause instanceof RangeError) throw this.damaged(`a page at byte ${piece.at}: ${cause.message}`, cause);
        throw cause;
      }
    }
    return undefined;
  }

  /** An error of this column. */
  damaged(reason: string, cause?: unknown): Error {
    const fields = { file: this.#file.name, rowGroup: this.#group, column: this.#name };
    const error = damaged(this.#file.name, `row group ${this.#group}, column ${this.#name}: ${reason}`, fields);
    if (cause !== undefined) error.cause = cause;
    return error;
  }

  #read(header: PageHeader, piece: { readonly at: number; readonly bytes: number }, to: number): Page {
    const end = to + header.decodedBytes;
    const { codec } = this.#chunk;
    if (header.kind !== 'data2') {
      this.#codec.decode(codec, piece, to, header.decodedBytes);
      if (header.kind === 'dictionary') return { header, repeats: NONE, presence: NONE, values: { at: to, end } };
      const repeats = this.#levels.repeats ? this.#prefixed(to, end) : { at: to, end: to };
      const presence = this.#levels.presence ? this.#prefixed(repeats.end, end) : { at: repeats.end, end: repeats.end };
      return { header, repeats, presence, values: { at: presence.end, end } };
    }
    const levels = header.repeatBytes + header.presenceBytes;
    if (levels > header.decodedBytes || levels > piece.bytes) throw new RangeError(`levels of ${levels} bytes`);
    this.#codec.copy({ at: piece.at, bytes: levels }, to);
    const rest = { at: piece.at + levels, bytes: piece.bytes - levels };
    this.#codec.decode(header.isCompressed ? codec : 'UNCOMPRESSED', rest, to + levels, header.decodedBytes - levels);
    const split = to + header.repeatBytes;
    return {
      header,
      repeats: { at: to, end: split },
      presence: { at: split, end: to + levels },
      values: { at: to + levels, end },
    };
  }

  /** Bytes behind their length. */
  #prefixed(at: number, end: number): Bytes {
    if (end - at < 4) throw new RangeError('the length of its levels is cut off');
    const bytes = this.#memory.decoder.bytes;
    const length = new DataView(bytes.buffer).getUint32(at, true);
    if (length > end - at - 4) throw new RangeError(`levels of ${length} bytes where ${end - at - 4} are left`);
    return { at: at + 4, end: at + 4 + length };
  }

  #nextHeader(): PageHeader {
    for (;;) {
      const most = Math.min(this.#header.length, this.#end - this.#at);
      const bytes = this.#header.subarray(0, most);
      const count = this.#file.read(bytes, this.#at);
      try {
        return pageHeader(bytes.subarray(0, count));
      } catch (cause) {
        const isShort = cause instanceof CutOff && count === this.#header.length && count < HEADER_BYTES_MAX;
        if (!isShort) throw this.damaged(`the page at byte ${this.#at}: ${messageOf(cause)}`, cause);
        this.#header = new Uint8Array(16 * this.#header.length);
      }
    }
  }
}

export const isDictionary = (encoding: number): boolean =>
  encoding === ENCODING.dictionary || encoding === ENCODING.plainDictionary;
