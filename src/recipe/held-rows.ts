/** @file Rows of a data set with a schema as arrays in memory, so that epochs are drawn from them in any order. */
import { Dataset } from '../data/dataset.js';
import type { DataRow } from '../data/files/place.js';
import type { Features, Schema } from '../data/schema.js';
import { encoderOf } from '../data/source-of.js';
import { type EncodedTable, TableBuilder } from './encoded-table.js';

const BLOCK_ROWS = 4096;
/** Bytes of encoded rows that are kept. */
export const BYTES_MAX = 2 ** 31;

/** Whether it is rows as objects, which can be gone over: a data set or a list. */
export const isRowsGiven = (data: unknown): data is Dataset | readonly DataRow[] =>
  data instanceof Dataset || Array.isArray(data);

/** All rows of `data`; undefined where they take more memory than is kept. */
export async function heldRows(
  schema: Schema<Features>,
  data: Dataset | readonly DataRow[],
  signal?: AbortSignal,
): Promise<EncodedTable | undefined> {
  const rows = data instanceof Dataset ? data : Dataset.from(data);
  const encode = encoderOf(schema, 'train');
  const builder = new TableBuilder(schema.specs);
  for await (const block of rows.batches(BLOCK_ROWS)) {
    signal?.throwIfAborted();
    builder.add(encode(block, builder.rows));
    if (builder.bytes > BYTES_MAX) return undefined;
  }
  return builder.end();
}

/** The numbers of all rows of a table. */
export const allRows = ({ rows }: EncodedTable): Uint32Array => Uint32Array.from({ length: rows }, (_, row) => row);
