/** @file Lines of CSV for blocks of columns: what a file is like, the kernel, and lines with more in their quotes. */

import { cellsOf, type OpenRow } from '../files/csv-cells.js';
import { type CsvForm, type CsvOptions, csvForm } from '../files/csv-options.js';
import { badLine, csvRow, type LinePlace, sniffed } from '../files/csv-rows.js';
import type { BlockMaker } from './block.js';
import type { CellPlan } from './cell-plans.js';
import { noColumn } from './check-columns.js';
import { type LineFormat, lineEnd, NEWLINE, type SlowLine, textOf } from './line-blocks.js';

export class CsvLines implements LineFormat {
  readonly #file: string;
  readonly #options: CsvOptions;
  readonly #maker: BlockMaker;
  readonly #onForm: (form: CsvForm) => void;
  #form: CsvForm | undefined;

  constructor(file: string, options: CsvOptions, maker: BlockMaker, onForm: (form: CsvForm) => void) {
    this.#file = file;
    this.#options = options;
    this.#maker = maker;
    this.#onForm = onForm;
  }

  begin(bytes: Uint8Array, start: number, end: number): { readonly at: number; readonly lines: number } {
    const lines = textOf(bytes, start, end).split('\n').map(withoutReturn);
    if (lines.at(-1) === '') lines.pop();
    const form = csvForm(this.#file, sniffed(lines, this.#options), this.#options);
    this.#form = form;
    this.#onForm(form);
    const column = ({ column: name }: CellPlan) => {
      const index = form.columns.indexOf(name);
      if (index < 0) throw noColumn(this.#file, name, form.columns, this.#maker.cells);
      return index;
    };
    const { columns, delimiter, decimalComma } = form;
    this.#maker.decoder.describe(column, {
      columnCount: columns.length,
      delimiter: delimiter.charCodeAt(0),
      decimalComma: decimalComma ? 1 : 0,
    });
    if (!form.header) return { at: start, lines: 0 };
    const { used, lines: passed } = recordAt(bytes, start, end, delimiter) ?? { used: end - start, lines: 1 };
    return { at: start + used, lines: passed };
  }

  decode(from: number, end: number): number {
    const { kernels, plan, blockRows } = this.#maker.decoder;
    return kernels.decodeCsv(plan, from, end, 0, blockRows);
  }

  slowLine(bytes: Uint8Array, at: number, end: number, place: LinePlace): SlowLine | undefined {
    const form = this.#form!;
    const record = recordAt(bytes, at, end, form.delimiter);
    if (record === undefined) return undefined;
    const { cells, used, lines, isEmpty } = record;
    const reading = { file: this.#file, form, onBadRow: this.#maker.onBadRow };
    return { bytes: used, lines, row: isEmpty ? undefined : csvRow(reading, cells, place) };
  }

  openLine(place: LinePlace): void {
    const reason = 'a quote is open at the end of the file';
    this.#maker.onBadRow(badLine(this.#file, place, this.#form!.columns[0]!, reason));
  }
}

interface CsvRecord {
  readonly cells: readonly string[];
  readonly used: number;
  readonly lines: number;
  readonly isEmpty: boolean;
}

/** The cells of the line at `at`, of several where quotes hold newlines; undefined where a quote stays open. */
function recordAt(bytes: Uint8Array, at: number, end: number, delimiter: string): CsvRecord | undefined {
  let open: OpenRow | undefined;
  for (let from = at, lines = 1; from < end; lines++) {
    const newline = bytes.indexOf(NEWLINE, from);
    const line = textOf(bytes, from, lineEnd(bytes, from, newline));
    from = newline + 1;
    const cells = cellsOf(line, delimiter, open);
    if (Array.isArray(cells)) return { cells, used: from - at, lines, isEmpty: open === undefined && line === '' };
    open = cells;
  }
  return undefined;
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);
