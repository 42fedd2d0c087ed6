/** @file What a CSV file is like, found out from its first lines or said by the caller. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { cellsOf } from './csv-cells.js';
import { NO_COLUMN } from './place.js';

export interface CsvOptions {
  /** What stands between cells. Default: the one of comma, tab, semicolon and `|` that cuts the first lines alike. */
  readonly delimiter?: string;
  /** Whether the first line has the names of columns. Default: whether it has no number where others have. */
  readonly header?: boolean;
  /** Names of the columns, in place of those in the file. */
  readonly columns?: readonly string[];
  /** Whether numbers are written `3,5`. Default: whether numbers with a comma are there and none with a point. */
  readonly decimalComma?: boolean;
  /** Texts that are missing values, besides the empty one. Default: none. */
  readonly nulls?: readonly string[];
}

/** A CSV file as it is read. */
export interface CsvForm {
  readonly delimiter: string;
  readonly header: boolean;
  readonly columns: readonly string[];
  readonly decimalComma: boolean;
  readonly nulls: readonly string[];
  /** What was guessed, in words, with how to overrule it. */
  readonly notes: readonly string[];
}

const DELIMITERS = [',', '\t', ';', '|'];
const NAMES: Readonly<Record<string, string>> = { ',': 'comma', '\t': 'tab', ';': 'semicolon', '|': 'bar' };
const NUMBER = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/;
const COMMA_NUMBER = /^\s*[-+]?\d+,\d+\s*$/;

export const CSV_OPTIONS = ['delimiter', 'header', 'columns', 'decimalComma', 'nulls'] as const;

/** The form of a file that begins with `lines`; ML_DATASET where it has none. */
export function csvForm(file: string, lines: readonly string[], options: CsvOptions = {}): CsvForm {
  checkOptions('CSV', options, CSV_OPTIONS);
  const [first] = lines;
  if (first === undefined) throw new MonolithError('ML_DATASET', { reason: `${file} is empty` });
  if (lines.some((line) => line.includes('\0'))) {
    const hint = 'write it as text in UTF-8; --format parquet or tfrecord says that it is one of those';
    throw new MonolithError('ML_DATASET', { reason: `${file} is no text: it has bytes of 0` }, { hint });
  }
  const delimiter = options.delimiter ?? delimiterOf(lines);
  if (delimiter.length !== 1 || delimiter === '"' || delimiter === '\n') {
    throw new MonolithError('ML_OPTION', {
      where: 'CSV',
      option: 'delimiter',
      reason: `${JSON.stringify(delimiter)} cannot stand between cells: it is one character`,
    });
  }
  const cells = lines.map((line) => wholeRow(line, delimiter)).filter((row) => row.length > 0);
  const header = options.header ?? (options.columns === undefined && hasHeader(cells));
  const decimalComma = options.decimalComma ?? (delimiter !== ',' && writesCommas(cells));
  const { names, notes } = columnNames(cells[0] ?? [], header, options.columns);
  const guessed = options.delimiter === undefined ? [`cells are cut at each ${NAMES[delimiter]}: delimiter`] : [];
  if (options.header === undefined && options.columns === undefined && !header) {
    guessed.push('the first line is data, columns are called column_1, …: header');
  }
  if (options.decimalComma === undefined && decimalComma) guessed.push('numbers have a decimal comma: decimalComma');
  return {
    delimiter,
    header,
    columns: names,
    decimalComma,
    nulls: options.nulls ?? [],
    notes: [...guessed, ...notes],
  };
}

/** Cells of a row, which may have newlines; none where a quote is open at its end. */
function wholeRow(row: string, delimiter: string): readonly string[] {
  const cells = cellsOf(row, delimiter);
  return Array.isArray(cells) ? cells : [];
}

/** The delimiter that cuts the most lines into as many cells as the first. */
function delimiterOf(lines: readonly string[]): string {
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const counts = lines.map((line) => wholeRow(line, delimiter).length);
    const alike = counts.filter((count) => count === counts[0]).length / counts.length;
    const score = counts[0]! > 1 ? alike * Math.min(2, 1 + counts[0]! / 1000) : 0;
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** Whether the first line says what the others hold: no cell of it is a number or empty. */
function hasHeader([first = [], ...others]: readonly (readonly string[])[]): boolean {
  const isName = (cell: string) => cell !== '' && !NUMBER.test(cell) && !COMMA_NUMBER.test(cell);
  return (
    others.length > 0 && first.filter(isName).length > first.length / 2 && !first.some((cell) => NUMBER.test(cell))
  );
}

function writesCommas(rows: readonly (readonly string[])[]): boolean {
  const cells = rows.slice(1).flat();
  return cells.some((cell) => COMMA_NUMBER.test(cell)) && !cells.some((cell) => /^\s*[-+]?\d+\.\d+\s*$/.test(cell));
}

/** Names that are there once and not empty: what is not is given one. */
function columnNames(first: readonly string[], header: boolean, given: readonly string[] | undefined) {
  const notes: string[] = [];
  const asked = given ?? (header ? first : first.map(() => ''));
  const taken = new Set<string>();
  const names = asked.map((cell, index) => {
    const trimmed = cell.trim();
    const wanted = trimmed === '' || trimmed === NO_COLUMN ? `column_${index + 1}` : trimmed;
    let name = wanted;
    for (let n = 2; taken.has(name); n++) name = `${wanted}_${n}`;
    taken.add(name);
    if (header && name !== trimmed) notes.push(`column ${index + 1} is called ${name}: columns`);
    return name;
  });
  return { names, notes };
}
