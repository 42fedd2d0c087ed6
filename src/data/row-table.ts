/** @file Rows of raw values as columns by name: which there are, and the errors of their cells. */
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import type { Refuse } from '../memory/given-arrays.js';
import type { Cell } from './field.js';
import { cellIn, hasColumn, placeOf } from './files/place.js';

/** A column of rows. */
export interface Column {
  readonly name: string;
  /** No row has it. */
  readonly absent: boolean;
  readonly rows: number;
  cell(row: number): Cell;
  /** The error of a cell. */
  refuse(row: number): Refuse;
}

/** Rows as columns. */
export class RowTable {
  readonly #rows: readonly Readonly<Record<string, Cell>>[];
  readonly #firstRow: number;
  readonly #wanted: readonly string[];

  constructor(rows: readonly Readonly<Record<string, Cell>>[], firstRow: number, wanted: readonly string[]) {
    this.#rows = rows;
    this.#firstRow = firstRow;
    this.#wanted = wanted;
  }

  column(name: string, mayBeAbsent: boolean): Column {
    const rows = this.#rows;
    const absent = rows.length > 0 && !rows.some((row) => hasColumn(row, name));
    if (absent) this.#checkAbsent(name, mayBeAbsent);
    return {
      name,
      absent,
      rows: rows.length,
      cell: name in Object.prototype ? (row) => cellIn(rows[row]!, name) as Cell : (row) => rows[row]![name],
      refuse: (row) => (reason, hint) =>
        new MonolithError(
          'ML_DATA',
          {
            where: placeOf(rows[row]!) ?? `row ${this.#firstRow + row}`,
            row: this.#firstRow + row,
            column: name,
            reason,
          },
          hint === undefined ? {} : { hint },
        ),
    };
  }

  #checkAbsent(column: string, mayBeAbsent: boolean): void {
    const found = Object.keys(this.#rows[0]!);
    const strangers = found.filter((name) => !this.#wanted.includes(name));
    const meant = didYouMean(column, strangers);
    if (mayBeAbsent && meant === undefined) return;
    const source = `row ${this.#firstRow}`;
    const columns = found.length === 0 ? 'none' : found.join(', ');
    throw new MonolithError('ML_COLUMN', { source, column, columns }, meant === undefined ? {} : { hint: meant });
  }
}
