/**
 * @file A file of lines as blocks of columns: whole lines of bytes go through the kernel of their format, lines that it
 * leaves go through the functions that rows as objects go through, so that both ways give the same.
 */
import { isUtf8 } from 'node:buffer';
import { MonolithError } from '../../base/errors.js';
import { checkLimit } from '../../base/limits.js';
import { DECODE, DECODE_SLACK_BYTES, DECODED } from '../../memory/decode-layout.js';
import type { LinePlace } from '../files/csv-rows.js';
import type { DataRow } from '../files/place.js';
import type { Block, BlockMaker } from './block.js';
import { type ByteSource, fill } from './byte-source.js';
import { SlowRows } from './slow-rows.js';

export const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BOM = [0xef, 0xbb, 0xbf];
const INPUT_BYTES = 1 << 20;

/** A line that was read as text. */
export interface SlowLine {
  readonly bytes: number;
  /** More than one where newlines are in quotes. */
  readonly lines: number;
  /** None of an empty line, and of one that is no row, which was told. */
  readonly row: DataRow | undefined;
}

/** How lines of a format are read. */
export interface LineFormat {
  /** Finds out what the file is like from its first lines; where its rows begin, and how many lines are before. */
  begin(bytes: Uint8Array, start: number, end: number): { readonly at: number; readonly lines: number };
  /** Decodes lines between two addresses; why it ended, of `DECODED`. */
  decode(from: number, end: number): number;
  /** Reads one line; undefined where its end is not among the bytes. */
  slowLine(bytes: Uint8Array, at: number, end: number, place: LinePlace): SlowLine | undefined;
  /** Tells of a line whose end is not in the file. */
  openLine(place: LinePlace): void;
}

export class LineBlocks {
  readonly #file: string;
  readonly #maker: BlockMaker;
  readonly #format: LineFormat;
  readonly #slow: SlowRows;
  #hasBegun = false;
  #place: LinePlace = { line: 1, byte: 0 };

  constructor(file: string, maker: BlockMaker, format: LineFormat) {
    this.#file = file;
    this.#maker = maker;
    this.#format = format;
    this.#slow = new SlowRows(maker);
  }

  /** Blocks of all rows; one is good until the next is asked for. */
  async *blocks(source: ByteSource): AsyncGenerator<Block> {
    const { decoder } = this.#maker;
    let bytes = decoder.input(INPUT_BYTES);
    let filled = 0;
    for (let isLast = false; !isLast; ) {
      // One byte more than is read: the last line may lack its newline.
      const room = bytes.subarray(filled, bytes.length - DECODE_SLACK_BYTES - 1);
      const count = await fill(source, room);
      isLast = count < room.length;
      const newline = room.subarray(0, count).lastIndexOf(NEWLINE);
      let end = newline < 0 ? 0 : filled + newline + 1;
      filled += count;
      if (isLast) {
        if (filled > 0 && bytes[filled - 1] !== NEWLINE) bytes[filled++] = NEWLINE;
        end = filled;
      }
      const used = end === 0 ? 0 : yield* this.#lines(bytes, end, isLast);
      bytes.copyWithin(0, used, filled);
      filled -= used;
      if (filled + DECODE_SLACK_BYTES + 1 === bytes.length) bytes = this.#longer(bytes);
    }
    if (!this.#hasBegun) throw new MonolithError('ML_DATASET', { reason: `${this.#file} is empty` });
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
    let at = this.#hasBegun ? 0 : this.#begin(bytes, end);
    let isPlain = isUtf8(bytes.subarray(at, end));
    while (at < end) {
      let rows = 0;
      let status: number = DECODED.odd;
      if (isPlain) {
        status = this.#format.decode(decoder.from + at, decoder.from + end);
        const next = decoder.word(DECODE.next) - decoder.from;
        rows = decoder.word(DECODE.rows);
        this.#pass(decoder.word(DECODE.lines), next - at);
        at = next;
      }
      if (rows > 0) {
        yield* this.#slow.rest();
        yield this.#maker.block(rows);
      }
      if (status !== DECODED.odd) continue;
      const line = this.#format.slowLine(bytes, at, end, this.#place);
      if (line === undefined) {
        if (!isLast) break;
        this.#format.openLine(this.#place);
        return end;
      }
      if (line.row !== undefined) this.#slow.add(line.row);
      this.#pass(line.lines, line.bytes);
      at += line.bytes;
      yield* this.#slow.enough();
      isPlain = isPlain || at >= end;
    }
    return at;
  }

  #begin(bytes: Uint8Array, end: number): number {
    const start = BOM.every((byte, index) => bytes[index] === byte) ? BOM.length : 0;
    const { at, lines } = this.#format.begin(bytes, start, end);
    this.#hasBegun = true;
    this.#place = { line: 1 + lines, byte: at };
    return at;
  }

  #pass(lines: number, bytes: number): void {
    this.#place = { line: this.#place.line + lines, byte: this.#place.byte + bytes };
  }
}

/** The text of bytes in shared memory. */
export function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
}

/** Where the line ends that has its newline at `newline`: before a return. */
export function lineEnd(bytes: Uint8Array, from: number, newline: number): number {
  return newline > from && bytes[newline - 1] === RETURN ? newline - 1 : newline;
}
