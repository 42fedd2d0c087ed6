/** @file The rows that a command of `monolith data` is about. */
import { basename } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { Dataset } from '../../data/dataset.js';
import type { DataRow } from '../../data/files/place.js';
import { ColumnStats } from '../../recipe/column-stats.js';
import { noColumn } from '../../recipe/label-plan.js';
import type { Overrules } from '../../recipe/sniff-column.js';
import { checkThere, fileOptionsOf, overOf } from '../learn/table-run.js';
import type { HeadFlags, StatFlags } from './data-options.js';

export function openRows(files: string, flags: Omit<HeadFlags, 'rows'>): Dataset {
  checkThere(files);
  return Dataset.from(files, fileOptionsOf(flags));
}

/** What rows are called in messages. */
export const calledBy = (files: string): string => (files === '-' ? 'standard input' : basename(files));

/** Counts what the cells of all columns are like. */
export class TableStats {
  readonly columns = new Map<string, ColumnStats>();
  rows = 0;

  add(rows: readonly DataRow[]): void {
    for (const row of rows) {
      for (const name of Object.keys(row)) {
        let column = this.columns.get(name);
        if (column === undefined) {
          column = new ColumnStats(name);
          column.missing = this.rows;
          column.rows = this.rows;
          this.columns.set(name, column);
        }
        column.add(row[name]);
      }
      this.rows++;
      // A row of JSON may lack what others have.
      for (const column of this.columns.values()) if (column.rows < this.rows) column.add(undefined);
    }
  }

  /** ML_COLUMN for a name in a flag that no column has. */
  checkNamed(flags: StatFlags, source: string): Overrules {
    const over = overOf(flags);
    const names = [...this.columns.keys()];
    for (const some of [over.id, over.number, over.time, over.ignore, over.words, [...(over.list?.keys() ?? [])]]) {
      for (const name of some ?? []) if (!names.includes(name)) throw noColumn(name, names, source);
    }
    return over;
  }
}

export const noRows = (source: string): MonolithError =>
  new MonolithError('ML_DATASET', { reason: `${source} has no rows` });
