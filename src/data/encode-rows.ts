/**
 * @file Rows as programs have them, objects of raw values, as the feeds of a batch: columns by name, ids as numbers or
 * text, lists, missing values.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { FeedData } from '../memory/batch.js';
import { describe, type Refuse } from '../memory/given-arrays.js';
import { floatOf, idOf, intOf, isMissing, labelOf, numberOf, timeOf } from './cells.js';
import { encodeIds } from './encode-ids.js';
import type { Cell, NumberField } from './field.js';
import type { Row } from './row.js';
import { type Column, RowTable } from './row-table.js';
import type { Feature, Features, Feeds, MarkedLabel, Schema } from './schema.js';

export interface EncodeOptions {
  /** Whether labels are read: rows to predict on have none. Default: true. */
  readonly labels?: boolean;
  /**
   * Whether columns may be absent from all rows, and are then missing values. A column of nearly the name of one that
   * is absent is refused all the same. Default: false, but for times where there are no labels.
   */
  readonly partial?: boolean;
  /** Number of the first row, for errors. Default: 0. */
  readonly firstRow?: number;
}

/** The feeds of a batch, by name: for `session.run`, `schema.batch` and `schema.batchWithout`. */
export interface EncodedRows<F extends Features> {
  readonly rows: number;
  readonly feeds: Feeds<F>;
}

/**
 * The feeds of rows.
 *
 * ```ts
 * const { feeds } = encodeRows(schema, [{ userId: 'u42', movieId: 318n, genres: ['Crime'], rating: 4 }]);
 * ```
 *
 * A value that does not fit is ML_DATA with row and column, a column that is not there ML_COLUMN with the nearest name.
 */
export function encodeRows<F extends Features>(
  schema: Schema<F>,
  rows: readonly Row<F>[],
  options?: EncodeOptions & { readonly labels?: true },
): EncodedRows<F>;
export function encodeRows<F extends Features>(
  schema: Schema<F>,
  rows: readonly Row<F>[],
  options: EncodeOptions,
): { readonly rows: number; readonly feeds: Omit<Feeds<F>, MarkedLabel<F>> & Partial<Feeds<F>> };
export function encodeRows<F extends Features>(
  schema: Schema<F>,
  rows: readonly Row<F>[],
  options: EncodeOptions = {},
): { readonly rows: number; readonly feeds: Partial<Feeds<F>> } {
  const {
    labels = true,
    partial = false,
    firstRow = 0,
  } = checkOptions('encodeRows', options, ['labels', 'partial', 'firstRow']);
  const given = rows as readonly Readonly<Record<string, Cell>>[];
  given.forEach((row, index) => {
    if (typeof row === 'object' && row !== null) return;
    throw new MonolithError('ML_DATA', {
      where: `row ${firstRow + index}`,
      column: '',
      reason: `${describe(row)} is no object of columns`,
    });
  });
  const table = new RowTable(given, firstRow, columnsOf(schema.features));
  const beside = (name: string) => table.column(name, false);
  const feeds: Record<string, unknown> = {};
  for (const [name, feature] of Object.entries(schema.features)) {
    const role = feature.field?.role;
    if (!labels && role === 'label') continue;
    const column = table.column(columnOf(name, feature), partial || (!labels && role === 'time'));
    if (column.absent && role === 'time') continue;
    for (const [feed, data] of encodeFeature(name, feature, column, beside)) {
      feeds[feed] = data.kind === 'ragged' ? { splits: data.splits, values: data.values } : data.values;
    }
  }
  return { rows: rows.length, feeds: feeds as Partial<Feeds<F>> };
}

/** The column a feature comes from. */
export const columnOf = (name: string, { field }: Feature): string => field?.from ?? name;

function columnsOf(features: Features): string[] {
  return Object.entries(features).map(([name, feature]) => columnOf(name, feature));
}

/** The feeds of one feature of `column`; `beside` finds others that it needs. */
export function encodeFeature(
  name: string,
  feature: Feature,
  column: Column,
  beside: (name: string) => Column,
): [string, FeedData][] {
  const { field } = feature;
  switch (feature.kind) {
    case 'ragged':
      return encodeIds(name, feature, column, beside);
    case 'ids':
      if (field?.role === 'time') return [[name, integers(column, (cell, refuse) => timeOf(field, cell, refuse))]];
      if (field?.role !== 'id') return [[name, wideIntegers(column, feature.width)]];
      return [
        [
          name,
          integers(column, (cell, refuse) =>
            idOf(field.map === undefined || isMissing(cell) ? cell : field.map(cell), refuse),
          ),
        ],
      ];
    case 'dense':
      if (field?.role === 'label') return [[name, floats(column, 1, (cell, refuse) => labelOf(field, cell, refuse))]];
      if (field?.role !== 'number') return [[name, floats(column, feature.width, numberOf)]];
      return [[name, floats(column, feature.width, (cell, refuse) => floatOf(field as NumberField, cell, refuse))]];
    default:
      return feature satisfies never;
  }
}

/** The cells of a column, one after the other, and the error of the one that was taken last. */
class Cells {
  readonly #column: Column;
  #row = 0;

  constructor(column: Column) {
    this.#column = column;
  }

  at(row: number): Cell {
    this.#row = row;
    return this.#column.cell(row);
  }

  readonly refuse: Refuse = (reason, hint) => this.#column.refuse(this.#row)(reason, hint);
}

function integers(column: Column, read: (cell: Cell, refuse: Refuse) => bigint): FeedData {
  const values = new BigInt64Array(column.rows);
  const cells = new Cells(column);
  for (let row = 0; row < column.rows; row++) values[row] = read(cells.at(row), cells.refuse);
  return { kind: 'ids', values };
}

function wideIntegers(column: Column, width: number): FeedData {
  if (width === 1) return integers(column, (cell, refuse) => (column.absent ? 0n : intOf(cell, refuse)));
  const values = new BigInt64Array(column.rows * width);
  spread(column, width, (cell, at, refuse) => {
    values[at] = intOf(cell, refuse);
  });
  return { kind: 'ids', values };
}

function floats(column: Column, width: number, read: (cell: Cell, refuse: Refuse) => number): FeedData {
  const values = new Float32Array(column.rows * width);
  if (width > 1) {
    spread(column, width, (cell, at, refuse) => {
      values[at] = read(cell, refuse);
    });
  } else {
    const cells = new Cells(column);
    for (let row = 0; row < column.rows; row++) values[row] = read(cells.at(row), cells.refuse);
  }
  return { kind: 'dense', values };
}

/** Calls `visit` for each value of cells that have `width` of them; a missing cell is that many missing values. */
function spread(column: Column, width: number, visit: (cell: Cell, at: number, refuse: Refuse) => void): void {
  for (let row = 0; row < column.rows; row++) {
    const [cell, refuse] = [column.cell(row), column.refuse(row)];
    const list = isMissing(cell) ? new Array<Cell>(width).fill(undefined) : (cell as ArrayLike<Cell>);
    if (!(Array.isArray(list) || ArrayBuffer.isView(list))) throw refuse(`${describe(cell)} is no list of ${width}`);
    if (list.length !== width) throw refuse(`it has ${list.length} values, not ${width}`);
    for (let at = 0; at < width; at++) visit(list[at], row * width + at, refuse);
  }
}
