/**
 * @file Rows of a file of JSON lines. Whole numbers beyond 2^53 stay exact: they are texts of digits, as ids may be.
 */
import { MonolithError, messageOf } from '../../base/errors.js';
import { lineBlocks } from './lines.js';
import { type DataRow, NO_COLUMN, noColumn, withPlace } from './place.js';
import { readBytes } from './read-bytes.js';

/** Strings, which are left alone, and whole numbers of so many digits that a double may not hold them. */
const LONG_NUMBERS = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\b\d{16,}\b(?![.eE])/g;

/** Rows of the file, as many at a time as came in a piece of it; a line that is none goes to `onBadRow`. */
export async function* jsonRows(file: string, onBadRow: (error: MonolithError) => void): AsyncGenerator<DataRow[]> {
  for await (const { lines, firstLine, starts } of lineBlocks(file, readBytes(file))) {
    const rows: DataRow[] = [];
    for (const [index, line] of lines.entries()) {
      const row = jsonRow(line, { file, line: firstLine + index, byte: starts[index]! }, onBadRow);
      if (row !== undefined) rows.push(row);
    }
    if (rows.length > 0) yield rows;
  }
}

/** The row of a line; undefined of an empty one, and of one that is no row, once `onBadRow` was told. */
export function jsonRow(
  text: string,
  { file, line, byte }: { readonly file: string; readonly line: number; readonly byte: number },
  onBadRow: (error: MonolithError) => void,
): DataRow | undefined {
  if (text.trim() === '') return undefined;
  try {
    return withPlace(parseRow(text), { file, line, byte, unit: 'line' });
  } catch (cause) {
    const where = `${file} line ${line}, byte ${byte}`;
    const fields = { where, row: line, column: '(all)', reason: messageOf(cause) };
    const hint = "badRows: 'skip' leaves such lines out and counts them";
    onBadRow(new MonolithError('ML_DATA', fields, { hint, cause }));
    return undefined;
  }
}

/**
 * JSON whose whole numbers of 16 digits and more are texts. Text that is no JSON may take as long as its length
 * squared: parse what strangers send before.
 */
export function withLongNumbers(text: string): string {
  if (!/\d{16}/.test(text)) return text;
  return text.replace(LONG_NUMBERS, (found) => (found.startsWith('"') ? found : `"${found}"`));
}

/** The object of a line; TypeError or SyntaxError for one that is none. */
export function parseRow(line: string): DataRow {
  // What is no JSON is refused before its numbers are looked for.
  const asIs: unknown = JSON.parse(line);
  const exact = withLongNumbers(line);
  const row: unknown = exact === line ? asIs : JSON.parse(exact);
  if (typeof row === 'object' && row !== null && Object.hasOwn(row, NO_COLUMN)) throw noColumn();
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as DataRow;
  throw new TypeError('the line is no object');
}
