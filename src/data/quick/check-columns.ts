/** @file Whether files whose rows have names of their own have the columns that are wanted of them. */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { DataRow } from '../files/place.js';
import type { CellPlan } from './cell-plans.js';

/** ML_COLUMN for a column that `columns` has not, with the one that may be meant. */
export function noColumn(
  file: string,
  column: string,
  columns: readonly string[],
  cells: readonly CellPlan[],
): MonolithError {
  const wanted = cells.map((cell) => cell.column);
  const hint = didYouMean(
    column,
    columns.filter((name) => !wanted.includes(name)),
  );
  const fields = { source: file, column, columns: columns.join(', ') || 'none' };
  return new MonolithError('ML_COLUMN', fields, hint === undefined ? {} : { hint });
}

/**
 * ML_COLUMN for a column that none of the first rows of a file has. Later ones may lack any: it is missing there. Rows
 * that cannot be made are told of when they are come to.
 */
export function checkColumns(file: string, cells: readonly CellPlan[], rows: Iterator<DataRow>): void {
  const found = new Set<string>();
  const missing = () => cells.find(({ column }) => !found.has(column));
  let any = false;
  for (;;) {
    try {
      const { done, value } = rows.next();
      if (done === true) break;
      any = true;
      for (const name of Object.keys(value)) found.add(name);
      if (missing() === undefined) return;
    } catch {
      return;
    }
  }
  const cell = missing();
  if (any && cell !== undefined) throw noColumn(file, cell.column, [...found], cells);
}
