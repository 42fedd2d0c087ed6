/** @file Lines of JSON for blocks of columns: the kernel, and lines that are not plain, or no JSON. */
import type { LinePlace } from '../files/csv-rows.js';
import { jsonRow, parseRow } from '../files/json-rows.js';
import type { BlockMaker } from './block.js';
import { checkColumns } from './check-columns.js';
import { type LineFormat, lineEnd, NEWLINE, type SlowLine, textOf } from './line-blocks.js';

export class JsonLines implements LineFormat {
  readonly #file: string;
  readonly #maker: BlockMaker;

  constructor(file: string, maker: BlockMaker) {
    this.#file = file;
    this.#maker = maker;
  }

  begin(bytes: Uint8Array, start: number, end: number): { readonly at: number; readonly lines: number } {
    this.#maker.decoder.describeNames();
    const rows = function* () {
      for (let from = start; from < end; ) {
        const newline = bytes.indexOf(NEWLINE, from);
        const line = textOf(bytes, from, newline);
        if (line.trim() !== '') yield parseRow(line);
        from = newline + 1;
      }
    };
    checkColumns(this.#file, this.#maker.cells, rows());
    return { at: start, lines: 0 };
  }

  decode(from: number, end: number): number {
    const { kernels, plan, blockRows } = this.#maker.decoder;
    return kernels.decodeJson(plan, from, end, 0, blockRows);
  }

  slowLine(bytes: Uint8Array, at: number, _end: number, place: LinePlace): SlowLine {
    const newline = bytes.indexOf(NEWLINE, at);
    const line = textOf(bytes, at, lineEnd(bytes, at, newline));
    return {
      bytes: newline + 1 - at,
      lines: 1,
      row: jsonRow(line, { file: this.#file, ...place }, this.#maker.onBadRow),
    };
  }

  openLine(): void {}
}
