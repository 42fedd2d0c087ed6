// Lines of CSV as columns. Lines of plain cells are read here, and cells in quotes that hold no quote and no newline;
// the call ends at any other line, which the caller reads the slow way. Twin: src/data/files/csv-rows.ts.
import { CELL, CELL_BYTES, DECODE, DECODED } from "../generated/layouts";
import { readPlainCell } from "./cell";

const NEWLINE: u32 = 0x0a;
const RETURN: u32 = 0x0d;
const QUOTE: u32 = 0x22;

@inline
function ends16(at: usize, delimiters: v128, newlines: v128): u64 {
  const bytes = v128.load(at);
  return <u64>i8x16.bitmask(v128.or(i8x16.eq(bytes, delimiters), i8x16.eq(bytes, newlines)));
}

/** Bits of the delimiters and newlines in 64 bytes. */
@inline
function endsIn(at: usize, delimiters: v128, newlines: v128): u64 {
  return ends16(at, delimiters, newlines) | ends16(at + 16, delimiters, newlines) << 16 |
    ends16(at + 32, delimiters, newlines) << 32 | ends16(at + 48, delimiters, newlines) << 48;
}

/**
 * Decodes the lines from `from` to `end`, which is behind a newline, into the rows from `row` up to `rowsMax`. Some
 * bytes behind `end` are read and not used.
 */
export function decodeCsv(plan: usize, from: usize, end: usize, row: u32, rowsMax: u32): i32 {
  const columns = load<u32>(plan, DECODE.columnCount);
  const delimiter = load<u32>(plan, DECODE.delimiter);
  const delimiters = i8x16.splat(<i8>delimiter);
  const newlines = i8x16.splat(<i8>NEWLINE);
  const fields = <usize>load<u32>(plan, DECODE.fields);
  const fieldsEnd = fields + <usize>load<u32>(plan, DECODE.fieldCount) * CELL_BYTES;
  let at = from;
  let lines: u32 = 0;
  // Where cells end that were not come to yet, as bits of 64 bytes. There is one: the last line ends with a newline.
  let base = from;
  let bits = endsIn(base, delimiters, newlines);
  let status: i32 = DECODED.end;
  while (at < end) {
    const first = <u32>load<u8>(at);
    if (first == NEWLINE || (first == RETURN && <u32>load<u8>(at + 1) == NEWLINE)) {
      at += first == NEWLINE ? 1 : 2;
      lines++;
      base = at;
      bits = endsIn(base, delimiters, newlines);
      continue;
    }
    if (row == rowsMax) {
      status = DECODED.full;
      break;
    }
    let field = fields;
    let wanted = field < fieldsEnd ? load<u32>(field, CELL.column) : 0xffffffff;
    let cell = at;
    let column: u32 = 0;
    let isOdd = false;
    for (;;) {
      let begin = cell;
      let stop: usize;
      if (<u32>load<u8>(cell) == QUOTE) {
        begin++;
        stop = begin;
        while (stop < end && <u32>load<u8>(stop) != QUOTE && <u32>load<u8>(stop) != NEWLINE) stop++;
        cell = stop + 1;
        let behind = <u32>load<u8>(cell);
        if (behind == RETURN && <u32>load<u8>(cell + 1) == NEWLINE) behind = <u32>load<u8>(++cell);
        if (stop >= end || <u32>load<u8>(stop) != QUOTE || (behind != delimiter && behind != NEWLINE)) {
          isOdd = true;
          break;
        }
        base = cell + 1;
        bits = endsIn(base, delimiters, newlines);
      } else {
        while (bits == 0) {
          base += 64;
          bits = endsIn(base, delimiters, newlines);
        }
        cell = base + <usize>ctz<u64>(bits);
        bits &= bits - 1;
        stop = cell;
        if (stop > begin && <u32>load<u8>(stop) == NEWLINE && <u32>load<u8>(stop - 1) == RETURN) stop--;
      }
      while (column == wanted) {
        if (!readPlainCell(plan, field, row, begin, stop)) {
          store<u32>(plan, <u32>((field - fields) / CELL_BYTES), DECODE.column);
          isOdd = true;
          break;
        }
        field += CELL_BYTES;
        wanted = field < fieldsEnd ? load<u32>(field, CELL.column) : 0xffffffff;
      }
      if (isOdd) break;
      column++;
      if (<u32>load<u8>(cell) == NEWLINE) break;
      cell++;
    }
    if (isOdd || column != columns) {
      status = DECODED.odd;
      break;
    }
    at = cell + 1;
    row++;
    lines++;
  }
  store<u32>(plan, <u32>at, DECODE.next);
  store<u32>(plan, row, DECODE.rows);
  store<u32>(plan, lines, DECODE.lines);
  return status;
}
