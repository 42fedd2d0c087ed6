/**
 * @file Rows of a Parquet file, by hyparquet: a row group at a time, of which no more is in memory, and only the
 * columns that are asked for. Pages may be plain or compressed by snappy, gzip, zstd or brotli.
 */
import { closeSync, fstatSync, readSync } from 'node:fs';
import * as zlib from 'node:zlib';
import type { AsyncBuffer, Compressors } from 'hyparquet';
import { MonolithError, messageOf } from '../../base/errors.js';
import { openRegular } from '../../base/files/read-file.js';
import { type DataRow, withPlace } from './place.js';
import { checkUnchanged } from './read-bytes.js';
import { zstdBlocks } from './zstd-pieces.js';

const BLOCK_ROWS = 512;

export async function* parquetRows(file: string, columns?: readonly string[]): AsyncGenerator<DataRow[]> {
  const { parquetMetadataAsync, parquetReadObjects, parquetSchema } = await import('hyparquet');
  const fd = open(file);
  try {
    const opened = fstatSync(fd);
    const source = bufferOf(fd, opened.size);
    const metadata = await parquetMetadataAsync(source);
    const known = parquetSchema(metadata).children.map(({ element }) => element.name);
    const wanted = columns?.filter((name) => known.includes(name));
    const compressors = await codecs();
    let first = 0;
    for (const { num_rows, columns: chunks } of metadata.row_groups) {
      const end = first + Number(num_rows);
      const byte = Number(chunks[0]?.meta_data?.data_page_offset ?? 0);
      const rows: DataRow[] = await parquetReadObjects({
        ...{ file: source, metadata, compressors, rowStart: first, rowEnd: end },
        ...(wanted && { columns: wanted }),
      });
      for (let at = 0; at < rows.length; at += BLOCK_ROWS) {
        const some = rows.slice(at, at + BLOCK_ROWS);
        for (const [index, row] of some.entries()) {
          withPlace(row, { file, line: first + at + index, byte, unit: 'record' });
        }
        yield some;
      }
      first = end;
    }
    if (first === 0) throw new MonolithError('ML_DATASET', { reason: `${file} has no rows` });
    checkUnchanged(file, opened, fstatSync(fd));
  } catch (cause) {
    if (cause instanceof MonolithError) throw cause;
    throw new MonolithError('ML_DATASET', { reason: `${file} as Parquet: ${messageOf(cause)}` }, { cause });
  } finally {
    closeSync(fd);
  }
}

function open(file: string): number {
  try {
    return openRegular(file).fd;
  } catch (cause) {
    throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { cause });
  }
}

/** Parts of the file, read when they are asked for. */
function bufferOf(fd: number, byteLength: number): AsyncBuffer {
  return {
    byteLength,
    slice: (from, to = byteLength) => {
      const bytes = new Uint8Array(to - from);
      for (let at = 0; at < bytes.length; ) {
        const count = readSync(fd, bytes, at, bytes.length - at, from + at);
        if (count === 0) throw new RangeError('the file is shorter than it says');
        at += count;
      }
      return bytes.buffer;
    },
  };
}

/** What hyparquet does not decompress itself. */
async function codecs(): Promise<Compressors> {
  return {
    GZIP: (input) => zlib.gunzipSync(input),
    BROTLI: (input) => zlib.brotliDecompressSync(input),
    ZSTD: await zstdBlocks(),
  };
}
