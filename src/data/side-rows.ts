/** @file A smaller table in memory, by the key that rows are joined on. */
import type { DataRow } from './files/place.js';
import { cellOf, noColumn } from './row-blocks.js';

/** Cells of the rows by the text of their key; of several with one key the last. */
export async function sideRows(
  rows: AsyncIterable<DataRow>,
  key: string,
  columns: readonly string[] | undefined,
): Promise<ReadonlyMap<string, DataRow>> {
  const table = new Map<string, DataRow>();
  for await (const row of rows) {
    if (!(key in row)) throw noColumn(row, key);
    const { [key]: value, ...others } = row;
    if (columns === undefined) table.set(String(value), others);
    else table.set(String(value), Object.fromEntries(columns.map((name) => [name, cellOf(row, name)])));
  }
  return table;
}
