/** @file The tables of a run's checkpoint: rows of ids as vectors, ids by the values that the data has for them. */

import { BestOf } from '../base/best-of.js';
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { idOf } from '../data/cells.js';
import type { DataRow } from '../data/files/place.js';
import type { HashTable } from '../sparse/table/hash-table.js';
import type { OpenRun } from './open-run.js';
import { dataOf, type RowsAsked, rowsOfData } from './run-rows.js';

/** The table of a feature; ML_TABLE_UNKNOWN with the nearest name. */
export function tableNamed(tables: ReadonlyMap<string, HashTable>, name: string | null): [string, HashTable] {
  const names = [...tables.keys()];
  const found = name ?? (names.length === 1 ? names[0]! : undefined);
  const table = found === undefined ? undefined : tables.get(found);
  if (table !== undefined) return [found!, table];
  const hint = didYouMean(name ?? '', names) ?? `the tables are ${names.join(', ')}`;
  const reason = name === null ? 'there are several, and --table says which' : 'the run has none of this name';
  throw new MonolithError('ML_TABLE_UNKNOWN', { table: name ?? '', reason }, { hint });
}

/** The 64 bits of a value as the data has it. */
export const idOfValue = (value: unknown): bigint =>
  idOf(value as never, (reason) => new MonolithError('ML_ID_TYPE', { what: 'monolith table', reason }));

/** Values of a column by their ids, as far as the data is still there: texts cannot be told from their ids. */
export async function valuesOfIds(run: OpenRun, column: string, asked: RowsAsked): Promise<Map<bigint, string>> {
  const found = new Map<bigint, string>();
  const add = (row: DataRow) => {
    const value = row[column];
    if (value === undefined || value === null || value === '') return;
    const id = idOfValue(value);
    if (!found.has(id)) found.set(id, String(value));
  };
  for (const side of run.sides) if (side.plan.key === column) for (const row of side.rows) add(row);
  let data: string;
  try {
    data = asked.data ?? dataOf(run);
  } catch (error) {
    if (error instanceof MonolithError && error.code === 'ML_FILE_READ') return found;
    throw error;
  }
  const plan = run.recipe.columns.find(({ name }) => name === column);
  if (plan?.side !== undefined || plan?.role !== 'id') return found;
  for await (const rows of rowsOfData(run, asked, data).batches(4096)) {
    asked.signal?.throwIfAborted();
    for (const row of rows) add(row);
  }
  return found;
}

export interface TableRow {
  readonly id: bigint;
  /** As the data has it; null where that is not known. */
  readonly value: string | null;
  readonly weights: Float32Array;
}

export function* rowsOf(table: HashTable, values: ReadonlyMap<bigint, string>): Generator<TableRow> {
  for (const { id, weights } of table.rows()) yield { id, value: values.get(id) ?? null, weights: weights.slice() };
}

export interface Near extends Omit<TableRow, 'weights'> {
  /** Cosine of the angle between the rows, from -1 to 1. */
  readonly similarity: number;
}

/** The rows that point where that of `id` points; undefined where the table has no such id. */
export function nearestRows(
  table: HashTable,
  id: bigint,
  values: ReadonlyMap<bigint, string>,
  { top, first }: { readonly top: number; readonly first: number },
): Near[] | undefined {
  const ids = BigInt64Array.of(id);
  if (table.contains(ids)[0] === 0) return undefined;
  const wanted = table.lookup(ids).slice(first);
  const length = Math.hypot(...wanted);
  const best = new BestOf<bigint>(top);
  for (const row of table.rows()) {
    if (row.id === id) continue;
    let [dot, square] = [0, 0];
    for (let at = 0; at < wanted.length; at++) {
      const weight = row.weights[first + at]!;
      dot += weight * wanted[at]!;
      square += weight * weight;
    }
    const norm = length * Math.sqrt(square);
    best.add(row.id, norm === 0 ? 0 : dot / norm);
  }
  return best.all.map(({ item, score }) => ({ id: item, value: values.get(item) ?? null, similarity: score }));
}
