/**
 * @file A CSV file as blocks of columns: whole lines of bytes go through the kernel that decodes them, lines that it
 * leaves go through the functions that rows as objects go through, so that both ways give the same.
 */
import { isUtf8 } from 'node:buffer';
import { MonolithError } from '../../base/errors.js';
import { checkLimit } from '../../base/limits.js';
import { DECODE, DECODE_SLACK_BYTES, DECODED } from '../../memory/decode-layout.js';
import { cellsOf, type OpenRow } from '../files/csv-cells.js';
import { type CsvForm, type CsvOptions, csvForm } from '../files/csv-options.js';
import { badLine, csvRow, type LinePlace, sniffed } from '../files/csv-rows.js';
import type { Block, BlockMaker } from './block.js';
import type { ByteSource } from './byte-source.js';
import type { CellPlan } from './cell-plans.js';
import { noColumn } from './check-columns.js';
import { SlowRows } from './slow-rows.js';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BOM = [0xef, 0xbb, 0xbf];
const INPUT_BYTES = 1 << 20;

export class CsvBlocks {
  readonly #file: string;
  readonly #options: CsvOptions;
  readonly #maker: BlockMaker;
  readonly #onForm: (form: CsvForm) => void;
  #form: CsvForm | undefined;
  #place: LinePlace = { line: 1, byte: 0 };
  readonly #slow: SlowRows;

  constructor(file: string, options: CsvOptions, maker: BlockMaker, onForm: (form: CsvForm) => void) {
    this.#file = file;
    this.#options = options;
    this.#maker = maker;
    this.#slow = new SlowRows(maker);
    this.#onForm = onForm;
  }

  /** Blocks of all rows; one is good until the next is asked for. */
  async *blocks(source: ByteSource): AsyncGenerator<Block> {
    const { decoder } = this.#maker;
    let bytes = decoder.input(INPUT_BYTES);
    let filled = 0;
    for (;;) {
      // One byte more than is read: the last line may lack its newline.
      const count = await source.read(bytes.subarray(filled, bytes.length - DECODE_SLACK_BYTES - 1));
      if (count === 0) break;
      const end = bytes.subarray(filled, filled + count).lastIndexOf(NEWLINE) + 1;
      const used = end === 0 ? 0 : yield* this.#lines(bytes, filled + end, false);
      filled += count;
      bytes.copyWithin(0, used, filled);
      filled -= used;
      if (filled + DECODE_SLACK_BYTES + 1 === bytes.length) bytes = this.#longer(bytes);
    }
    if (filled > 0) {
      if (bytes[filled - 1] !== NEWLINE) bytes[filled++] = NEWLINE;
      yield* this.#lines(bytes, filled, true);
    }
    if (this.#form === undefined) throw new MonolithError('ML_DATASET', { reason: `${this.#file} is empty` });
    yield* this.#slow.rest();
  }

  /** More room for a line that is longer than the input. */
  #longer({ length }: Uint8Array): Uint8Array {
    checkLimit('recordBytes', length, (reason) => {
      throw new MonolithError('ML_DATASET', { reason: `line ${this.#place.line} of ${this.#file} ${reason}` });
    });
    return this.#maker.decoder.input(2 * length);
  }

  /** Blocks of the lines up to `end`; returns how many bytes were used: a quote may be open at the end. */
  *#lines(bytes: Uint8Array, end: number, isLast: boolean): Generator<Block, number> {
    const { decoder } = this.#maker;
    const { kernels, plan, from, blockRows } = decoder;
    let at = this.#form === undefined ? this.#begin(bytes, end) : 0;
    let isPlain = isUtf8(bytes.subarray(at, end));
    while (at < end) {
      let rows = 0;
      let status: number = DECODED.odd;
      if (isPlain) {
        status = kernels.decodeCsv(plan, from + at, from + end, 0, blockRows);
        const next = decoder.word(DECODE.next) - from;
        rows = decoder.word(DECODE.rows);
        const { line, byte } = this.#place;
        this.#place = { line: line + decoder.word(DECODE.lines), byte: byte + next - at };
        at = next;
      }
      if (rows > 0) {
        yield* this.#slow.rest();
        yield this.#maker.block(rows);
      }
      if (status !== DECODED.odd) continue;
      const used = this.#slowLine(bytes, at, end, isLast);
      if (used === 0) break;
      at += used;
      yield* this.#slow.enough();
      isPlain = isPlain || at >= end;
    }
    return at;
  }

  /** Finds out what the file is like; where its data begins. */
  #begin(bytes: Uint8Array, end: number): number {
    const start = BOM.every((byte, index) => bytes[index] === byte) ? BOM.length : 0;
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
    this.#place = { line: 1, byte: start };
    if (!form.header) return start;
    const { used, lines: passed } = recordAt(bytes, start, end, delimiter) ?? { used: end - start, lines: 1 };
    this.#place = { line: 1 + passed, byte: start + used };
    return start + used;
  }

  /** Reads one line as text; how many bytes it has, 0 where its quote is open at the end of the bytes. */
  #slowLine(bytes: Uint8Array, at: number, end: number, isLast: boolean): number {
    const form = this.#form!;
    const { line, byte } = this.#place;
    const record = recordAt(bytes, at, end, form.delimiter);
    if (record === undefined) {
      if (!isLast) return 0;
      this.#maker.onBadRow(
        badLine(this.#file, this.#place, form.columns[0]!, 'a quote is open at the end of the file'),
      );
      return end - at;
    }
    const { cells, used, lines, isEmpty } = record;
    if (!isEmpty) {
      const { onBadRow } = this.#maker;
      const row = csvRow({ file: this.#file, form, onBadRow }, cells, this.#place);
      if (row !== undefined) this.#slow.add(row);
    }
    this.#place = { line: line + lines, byte: byte + used };
    return used;
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
    const stop = newline > from && bytes[newline - 1] === RETURN ? newline - 1 : newline;
    const line = textOf(bytes, from, stop);
    from = newline + 1;
    const cells = cellsOf(line, delimiter, open);
    if (Array.isArray(cells)) return { cells, used: from - at, lines, isEmpty: open === undefined && line === '' };
    open = cells;
  }
  return undefined;
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
}
