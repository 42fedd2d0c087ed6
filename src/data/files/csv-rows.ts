/** @file Rows of a CSV file: objects of texts by column, each with its place in the file. */
import { MonolithError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { cellsOf, type OpenRow } from './csv-cells.js';
import { type CsvForm, type CsvOptions, csvForm } from './csv-options.js';
import { type LineBlock, lineBlocks } from './lines.js';
import { type DataRow, withPlace } from './place.js';
import { readBytes } from './read-bytes.js';

/** Lines that the form of a file is found out from. */
const SNIFFED_LINES = 200;
const COMMA_NUMBER = /^\s*[-+]?\d+,\d+\s*$/;

/** What the rows of one file need to know. */
export interface Reading {
  readonly file: string;
  readonly form: CsvForm;
  readonly onBadRow: (error: MonolithError) => void;
}

export interface CsvFile {
  readonly options: CsvOptions;
  /** Told of a line that is no row; it is left out unless this throws. */
  readonly onBadRow: (error: MonolithError) => void;
  readonly onForm?: (form: CsvForm) => void;
}

/** Rows of the file, some hundred at a time. */
export async function* csvRows(file: string, { options, onBadRow, onForm }: CsvFile): AsyncGenerator<DataRow[]> {
  let reader: CsvReader | undefined;
  for await (const block of lineBlocks(file, readBytes(file))) {
    if (reader === undefined) {
      const form = csvForm(file, sniffed(block.lines, options), options);
      onForm?.(form);
      reader = new CsvReader({ file, form, onBadRow });
    }
    const rows = reader.rowsOf(block);
    if (rows.length > 0) yield rows;
  }
  if (reader === undefined) throw new MonolithError('ML_DATASET', { reason: `${file} is empty` });
  const rows = reader.end();
  if (rows.length > 0) yield rows;
}

/** The first rows as lines: those with newlines in quotes are one. */
export function sniffed(lines: readonly string[], { delimiter = ',' }: CsvOptions): string[] {
  const found: string[] = [];
  let row: string[] = [];
  let open: OpenRow | undefined;
  for (const line of lines) {
    row.push(line);
    const cells = cellsOf(line, delimiter, open);
    open = Array.isArray(cells) ? undefined : cells;
    if (open !== undefined) continue;
    const text = row.join('\n');
    if (text !== '') found.push(text);
    row = [];
    if (found.length >= SNIFFED_LINES) break;
  }
  return found;
}

class CsvReader {
  readonly #reading: Reading;
  #skipsHeader: boolean;
  /** A row whose quote is open, with where it began. */
  #open: { readonly row: OpenRow; readonly line: number; readonly byte: number } | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#skipsHeader = reading.form.header;
  }

  rowsOf({ lines, firstLine, starts }: LineBlock): DataRow[] {
    const rows: DataRow[] = [];
    for (const [index, line] of lines.entries()) this.#line(line, firstLine + index, starts[index]!, rows);
    return rows;
  }

  /** A quote that is open at the end of the file. */
  end(): DataRow[] {
    if (this.#open === undefined) return [];
    const { line, byte } = this.#open;
    this.#refuse(line, byte, this.#reading.form.columns[0]!, 'a quote is open at the end of the file');
    return [];
  }

  #line(text: string, line: number, byte: number, rows: DataRow[]): void {
    const open = this.#open;
    const cells = cellsOf(text, this.#reading.form.delimiter, open?.row);
    const begin = open ?? { line, byte };
    if (!Array.isArray(cells)) {
      if (cells.chars > LIMITS.recordBytes) throw this.#error(begin, 'a quote is not closed');
      this.#open = { row: cells, line: begin.line, byte: begin.byte };
      return;
    }
    this.#open = undefined;
    if (this.#skipsHeader) this.#skipsHeader = false;
    else if (open !== undefined || text !== '') this.#row(cells, begin.line, begin.byte, rows);
  }

  #row(cells: readonly string[], line: number, byte: number, rows: DataRow[]): void {
    const row = csvRow(this.#reading, cells, { line, byte });
    if (row !== undefined) rows.push(row);
  }

  #refuse(line: number, byte: number, column: string, reason: string): void {
    this.#reading.onBadRow(this.#error({ line, byte }, reason, column));
  }

  #error(place: LinePlace, reason: string, column = this.#reading.form.columns[0]!) {
    return badLine(this.#reading.file, place, column, reason);
  }
}

/** A line, and the byte it begins at. */
export interface LinePlace {
  readonly line: number;
  readonly byte: number;
}

/** The row of a line's cells; undefined of a line that is none, once `onBadRow` was told. */
export function csvRow({ file, form, onBadRow }: Reading, cells: readonly string[], place: LinePlace) {
  const { columns, decimalComma, nulls } = form;
  if (cells.length !== columns.length) {
    const column = columns[Math.min(cells.length, columns.length - 1)]!;
    onBadRow(badLine(file, place, column, `the line has ${cells.length} cells, not ${columns.length}`));
    return undefined;
  }
  const row: Record<string, string> = {};
  for (const [index, cell] of cells.entries()) {
    const text = decimalComma && COMMA_NUMBER.test(cell) ? cell.replace(',', '.') : cell;
    row[columns[index]!] = nulls.includes(text) ? '' : text;
  }
  return withPlace<DataRow>(row, { file, ...place, unit: 'line' });
}

/** The error of a line that is no row. */
export function badLine(file: string, { line, byte }: LinePlace, column: string, reason: string): MonolithError {
  const fields = { where: `${file} line ${line}, byte ${byte}`, row: line, column, reason };
  return new MonolithError('ML_DATA', fields, { hint: "badRows: 'skip' leaves such lines out and counts them" });
}
