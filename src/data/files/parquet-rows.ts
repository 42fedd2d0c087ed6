/**
 * @file Rows of a Parquet file, by hyparquet: a row group at a time, of which no more is in memory. Pages may be
 * plain or compressed by snappy, gzip, zstd or brotli.
 */
import { ParquetFile } from './parquet-file.js';
import type { DataRow } from './place.js';

const BLOCK_ROWS = 512;

export async function* parquetRows(file: string): AsyncGenerator<DataRow[]> {
  const source = await ParquetFile.open(file);
  try {
    for (const group of source.groups) yield* inBlocks(await source.rows(group, 0));
    source.checkEnd();
  } finally {
    source.close();
  }
}

/** Rows some hundred at a time. */
export function* inBlocks(rows: readonly DataRow[]): Generator<DataRow[]> {
  for (let at = 0; at < rows.length; at += BLOCK_ROWS) yield rows.slice(at, at + BLOCK_ROWS);
}
