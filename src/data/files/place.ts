/**
 * @file Where a row was read: known of the row from aside, so that a cell that is wrong is found in its file and rows
 * look as they are.
 */

const places = new WeakMap<DataRow, Place>();

/** File, line or record, and byte of a row. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly byte: number;
  /** What `line` counts. */
  readonly unit: 'line' | 'record';
}

export type DataRow = Readonly<Record<string, unknown>>;

/** The row, whose place is known from now on. */
export function withPlace<Row extends DataRow>(row: Row, place: Place | undefined): Row {
  if (place !== undefined) places.set(row, place);
  return row;
}

/** A row that was made of another stands where that one stands. */
export function atPlaceOf<Row extends DataRow>(row: Row, source: DataRow): Row {
  return withPlace(row, places.get(source));
}

/** `ratings.csv line 40212, byte 932817`; undefined of a row that was not read from a file. */
export function placeOf(row: DataRow): string | undefined {
  const place = places.get(row);
  return place === undefined ? undefined : `${place.file} ${place.unit} ${place.line}, byte ${place.byte}`;
}

/** Whether the row has the column: what every object inherits, such as `constructor`, is none. */
export function hasColumn(row: DataRow, name: string): boolean {
  return name in row && (!(name in Object.prototype) || Object.hasOwn(row, name));
}

/** The cell of a column; undefined where the row lacks it. */
export function cellIn(row: DataRow, name: string): unknown {
  return hasColumn(row, name) ? row[name] : undefined;
}

/** Objects take it for something else: a column of this name would be lost on its way. */
export const NO_COLUMN = '__proto__';

/** What a row that has it is refused with. */
export const noColumn = (): TypeError => new TypeError(`a column cannot be called ${NO_COLUMN}`);
