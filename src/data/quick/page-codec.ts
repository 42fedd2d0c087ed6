/**
 * @file Pages as they stand in a file, decompressed into memory. None comes out larger than its header says, and that
 * is held to a limit.
 */
import * as zlib from 'node:zlib';
import type { CompressionCodec } from 'hyparquet';
import { messageOf } from '../../base/errors.js';
import type { ParquetFile } from '../files/parquet-file.js';
import { zstdBlocks } from '../files/zstd-pieces.js';
import type { PageMemory, Room } from './page-memory.js';

/** Bytes of the file. */
interface Piece {
  readonly at: number;
  readonly bytes: number;
}

export class PageCodec {
  readonly #file: ParquetFile;
  readonly #memory: PageMemory;
  /** Of the page that is being read. */
  readonly #packed: Room;
  #bytes = Buffer.alloc(0);
  #zstd: ((input: Uint8Array, bytes: number) => Uint8Array) | undefined;

  constructor(file: ParquetFile, memory: PageMemory) {
    this.#file = file;
    this.#memory = memory;
    this.#packed = memory.room();
  }

  /** Makes ready for a codec; whether there is a way to read it. */
  async knows(codec: CompressionCodec): Promise<boolean> {
    if (codec === 'ZSTD') this.#zstd ??= await zstdBlocks();
    return ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI', 'ZSTD'].includes(codec);
  }

  /** Reads bytes of the file to an address; a RangeError where they are not there. */
  copy({ at, bytes }: Piece, to: number): void {
    if (this.#file.read(this.#memory.decoder.bytes.subarray(to, to + bytes), at) < bytes) throw cutOff();
  }

  /** Decodes bytes of the file to an address; a RangeError where they are not `decoded` bytes. */
  decode(codec: CompressionCodec, piece: Piece, to: number, decoded: number): void {
    if (codec === 'UNCOMPRESSED') {
      if (piece.bytes !== decoded) throw new RangeError(`${piece.bytes} bytes of ${decoded}`);
      this.copy(piece, to);
      return;
    }
    if (decoded === 0) return;
    if (codec === 'SNAPPY') {
      const from = this.#memory.fit(this.#packed, piece.bytes);
      this.copy(piece, from);
      const { kernels } = this.#memory.decoder;
      const end = kernels.decodeSnappy(from, from + piece.bytes, to, to + decoded) >>> 0;
      if (end !== to + decoded) throw new RangeError('what it has compressed is damaged');
      return;
    }
    const found = this.#inflated(codec, piece, decoded);
    if (found.length !== decoded) throw new RangeError(`${found.length} bytes came out, not ${decoded}`);
    this.#memory.decoder.bytes.set(found, to);
  }

  /** Decompressed by libraries, which read no shared memory. */
  #inflated(codec: CompressionCodec, { at, bytes }: Piece, decoded: number): Uint8Array {
    if (this.#bytes.length < bytes) this.#bytes = Buffer.alloc(2 * bytes);
    const input = this.#bytes.subarray(0, bytes);
    if (this.#file.read(input, at) < bytes) throw cutOff();
    try {
      if (codec === 'ZSTD') return this.#zstd!(input, decoded);
      const options = { maxOutputLength: decoded };
      return codec === 'GZIP' ? zlib.gunzipSync(input, options) : zlib.brotliDecompressSync(input, options);
    } catch (cause) {
      throw new RangeError(`what it has compressed is damaged: ${messageOf(cause)}`, { cause });
    }
  }
}

const cutOff = () => new RangeError('the file ends in it');
