/**
 * @file A Parquet file that is open: what it says of itself, its bytes, and rows of a row group by hyparquet. What it
 * says is gone over before hyparquet takes memory for it.
 */
import { closeSync, fstatSync, readSync, type Stats } from 'node:fs';
import * as zlib from 'node:zlib';
import type { AsyncBuffer, Compressors, FileMetaData, SchemaTree } from 'hyparquet';
import { MonolithError, messageOf } from '../../base/errors.js';
import { openToRead } from '../../base/files/read-file.js';
import { checkLimit } from '../../base/limits.js';
import { CompactReader } from '../../io/thrift.js';
import { type ParquetGroup, parquetGroups } from './parquet-groups.js';
import { type DataRow, withPlace } from './place.js';
import { checkUnchanged } from './read-bytes.js';
import { zstdBlocks } from './zstd-pieces.js';

/** The length of the footer, and the mark that ends a file. */
const TAIL_BYTES = 8;
const MARK = 'PAR1';

export class ParquetFile {
  readonly name: string;
  readonly bytes: number;
  readonly metadata: FileMetaData;
  readonly root: SchemaTree;
  readonly groups: readonly ParquetGroup[];
  readonly #fd: number;
  readonly #opened: Stats;

  private constructor(name: string, fd: number, opened: Stats, metadata: FileMetaData, root: SchemaTree) {
    this.name = name;
    this.bytes = opened.size;
    this.metadata = metadata;
    this.#fd = fd;
    this.#opened = opened;
    this.root = root;
    this.groups = parquetGroups(metadata, root, this.bytes);
  }

  /** ML_DATASET for a file that is none, ML_FILE_READ for one that cannot be read. */
  static async open(name: string): Promise<ParquetFile> {
    const { parquetMetadata, parquetSchema } = await import('hyparquet');
    const { fd, bytes } = openToRead(name);
    try {
      const opened = fstatSync(fd);
      const tail = piece(fd, Math.max(0, bytes - TAIL_BYTES), bytes);
      if (tail.length < TAIL_BYTES || tail.toString('latin1', 4) !== MARK)
        throw damaged(name, 'it does not end as one');
      const length = tail.readUInt32LE(0);
      if (length > bytes - TAIL_BYTES) throw damaged(name, `a footer of ${length} bytes in a file of ${bytes}`);
      checkLimit('footerBytes', length, (reason) => {
        throw damaged(name, `its footer ${reason}`);
      });
      const footer = piece(fd, bytes - TAIL_BYTES - length, bytes);
      new CompactReader(footer.subarray(0, length)).struct();
      const metadata = parquetMetadata(footer);
      return new ParquetFile(name, fd, opened, metadata, parquetSchema(metadata));
    } catch (cause) {
      closeSync(fd);
      throw asParquet(name, cause);
    }
  }

  /** Reads the bytes at `at`; as many as there are, at most those that fit. */
  read(into: Uint8Array, at: number): number {
    let filled = 0;
    while (filled < into.length) {
      const count = readSync(this.#fd, into, filled, into.length - filled, at + filled);
      if (count === 0) break;
      filled += count;
    }
    return filled;
  }

  /** Rows of a group from its row `from` on, as objects, with these columns or all there are. */
  async rows(
    { index, first, rows, parts }: ParquetGroup,
    from: number,
    columns?: readonly string[],
  ): Promise<DataRow[]> {
    const { parquetReadObjects } = await import('hyparquet');
    checkLimit('groupRows', rows, (reason) => {
      throw damaged(this.name, `row group ${index}, which has to be read as objects: ${reason}`);
    });
    try {
      const { metadata } = this;
      const found: DataRow[] = await parquetReadObjects({
        ...{ file: this.#source(), metadata, compressors: await codecs() },
        ...{ rowStart: first + from, rowEnd: first + rows },
        ...(columns && { columns: [...columns] }),
      });
      const byte = Number(parts[0]?.meta_data?.data_page_offset ?? 0);
      for (const [number, row] of found.entries()) {
        withPlace(row, { file: this.name, line: first + from + number, byte, unit: 'record' });
      }
      return found;
    } catch (cause) {
      throw asParquet(this.name, cause);
    }
  }

  /** ML_DATASET for a file that has no rows, or is another one by now. */
  checkEnd(): void {
    if (this.groups.every(({ rows }) => rows === 0)) {
      throw new MonolithError('ML_DATASET', { reason: `${this.name} has no rows` });
    }
    checkUnchanged(this.name, this.#opened, fstatSync(this.#fd));
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Parts of the file, read when they are asked for. */
  #source(): AsyncBuffer {
    const byteLength = this.bytes;
    return {
      byteLength,
      slice: (from, to = byteLength) => {
        const part = piece(this.#fd, from, to);
        return part.buffer.slice(part.byteOffset, part.byteOffset + part.length) as ArrayBuffer;
      },
    };
  }
}

/** An error of a file that is no Parquet, or is damaged. */
export function damaged(file: string, reason: string, fields: Readonly<Record<string, unknown>> = {}): MonolithError {
  return new MonolithError('ML_DATASET', { ...fields, reason: `${file} as Parquet: ${reason}` });
}

function asParquet(file: string, cause: unknown): MonolithError {
  if (cause instanceof MonolithError) return cause;
  const reason = `${file} as Parquet: ${messageOf(cause)}`;
  return new MonolithError('ML_DATASET', { reason }, { cause });
}

function piece(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from);
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(fd, bytes, at, bytes.length - at, from + at);
    if (count === 0) throw new RangeError('the file is shorter than it says');
    at += count;
  }
  return bytes;
}

/** What hyparquet does not decompress itself. */
async function codecs(): Promise<Compressors> {
  return {
    GZIP: (input, bytes) => zlib.gunzipSync(input, { maxOutputLength: Math.max(1, bytes) }),
    BROTLI: (input, bytes) => zlib.brotliDecompressSync(input, { maxOutputLength: Math.max(1, bytes) }),
    ZSTD: await zstdBlocks(),
  };
}
