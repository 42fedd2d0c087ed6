/** @file Rows on their way through the steps of a data set: many at a time, few promises for many rows. */
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { type DataRow, hasColumn, placeOf } from './files/place.js';

/** Goes over the rows anew with each call; the number of a pass decides the order of rows that are shuffled. */
export type Blocks<R> = (pass?: number) => AsyncIterable<readonly R[]>;

/** ML_COLUMN for a column that a row does not have. */
export function noColumn(row: DataRow, column: string): MonolithError {
  const columns = Object.keys(row);
  const hint = didYouMean(column, columns);
  const source = placeOf(row)?.replace(/ (?:line|record) .*/, '') ?? 'the first row';
  const fields = { source, column, columns: columns.join(', ') || 'none' };
  return new MonolithError('ML_COLUMN', fields, hint === undefined ? {} : { hint });
}

/** The cell of a column that must be there. */
export function cellOf(row: DataRow, name: string): unknown {
  if (!hasColumn(row, name)) throw noColumn(row, name);
  return row[name];
}

export function checkCount(where: string, name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1) throw refuse(where, name, `${String(value)} is no whole number above 0`);
}

export function checkFunction(where: string, value: unknown): void {
  if (typeof value !== 'function') throw refuse(where, 'the argument', 'it is a function');
}

export function refuse(where: string, option: string, reason: string): MonolithError {
  return new MonolithError('ML_OPTION', { where: `Dataset.${where}`, option, reason: `${option}: ${reason}` });
}
