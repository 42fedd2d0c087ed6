// Lines of JSON as columns: objects of plain values, names in any order. The call ends at any other line, among them
// those that are no JSON, which the caller reads the slow way. Twin: src/data/files/json-rows.ts.
import { CELL, CELL_BYTES, CELL_KIND, DECODE, DECODED } from "../generated/layouts";
import { endIds, readCell, readPlainCell } from "./cell";
import { LONG_DIGITS, storeIds, storeNumbers } from "./json-list";
import {
  byteAt, COMMA, falseEnd, isEscaped, isNumber, isWhole, LIST, nullEnd, numberEnd, openText, QUOTE, readFloat,
  skipSpace, skipValue, stringEnd, textAt, textEnd, trueEnd, wholeDigits,
} from "./json-text";
import { numberIs, readWhole, wholeIs } from "./numbers";
import {
  addNumber, addWhole, beginRow, endRow, fieldOf, fieldsEnd, storeFloat, storeMissing, storeNumber, storeWhole,
} from "./value";

const NEWLINE: u32 = 0x0a;
const COLON: u32 = 0x3a;
const OBJECT: u32 = 0x7b, OBJECT_END: u32 = 0x7d;

/** Writes the number from `at` to `end` as the value of a field that has one. */
@inline
function storeDigits(plan: usize, field: usize, row: u32, at: usize, end: usize): bool {
  const kind = load<u32>(field, CELL.kind);
  if (kind == CELL_KIND.float || kind == CELL_KIND.double) {
    return readFloat(plan, at, end) && storeFloat(field, row, 0, numberIs);
  }
  if (isWhole) {
    if (wholeDigits >= LONG_DIGITS) return readCell(plan, field, row, at, end);
    if (!readWhole(at, end)) return false;
    if (kind != CELL_KIND.ids) return storeWhole(plan, field, row, wholeIs);
    if (!addWhole(field, row, 0, wholeIs)) return false;
  } else {
    if (!readFloat(plan, at, end)) return false;
    if (kind != CELL_KIND.ids) return storeNumber(field, row, numberIs);
    if (!addNumber(field, row, 0, numberIs)) return false;
  }
  endIds(field, row, 1);
  return true;
}

/** Writes `true` or `false`, which are numbers and texts. */
function storeTruth(plan: usize, field: usize, row: u32, at: usize): usize {
  const isTrue = byteAt(at) == 0x74;
  const end = isTrue ? trueEnd(at) : falseEnd(at);
  const kind = load<u32>(field, CELL.kind);
  if (end == 0 || kind == CELL_KIND.int || kind == CELL_KIND.ids) return 0;
  const isText = kind == CELL_KIND.id || kind == CELL_KIND.text || kind == CELL_KIND.oneOf || kind == CELL_KIND.hash;
  if (isText) return readCell(plan, field, row, at, end) ? end : 0;
  return storeNumber(field, row, isTrue ? 1 : 0) ? end : 0;
}

/** Writes the value at `at`; where it ends, 0 where the slow way has to. */
function storeValue(plan: usize, field: usize, row: u32, at: usize): usize {
  const first = byteAt(at);
  if (first == LIST) {
    if (load<u32>(field, CELL.kind) == CELL_KIND.ids) return storeIds(plan, field, row, at + 1);
    return load<u32>(field, CELL.width) > 1 ? storeNumbers(plan, field, row, at + 1) : 0;
  }
  if (first == 0x6e) {
    const end = nullEnd(at);
    return end != 0 && storeMissing(field, row) ? end : 0;
  }
  if (load<u32>(field, CELL.width) > 1) return 0;
  if (first == QUOTE) {
    const stop = openText(plan, at);
    return stop != 0 && readPlainCell(plan, field, row, textAt, textEnd) ? stop : 0;
  }
  if (isNumber(first)) {
    const stop = numberEnd(at);
    return stop != 0 && storeDigits(plan, field, row, at, stop) ? stop : 0;
  }
  return storeTruth(plan, field, row, at);
}

/** Writes the row of the object whose first name is at `at`; where it ends, 0 where the slow way has to. */
function decodeObject(plan: usize, at: usize, row: u32): usize {
  const stamp = beginRow(plan);
  const fields = fieldsEnd(plan);
  let found: u32 = 0;
  let guess: usize = plan + DECODE.firstField;
  at = skipSpace(at);
  while (byteAt(at) != OBJECT_END) {
    if (byteAt(at) != QUOTE) return 0;
    const name = at + 1;
    const named = stringEnd(name);
    if (named == 0 || isEscaped) return 0;
    at = skipSpace(named + 1);
    if (byteAt(at) != COLON) return 0;
    at = skipSpace(at + 1);
    let field = fieldOf(plan, guess, name, named - name);
    if (field == 0) {
      // Maybe a name that no row may have.
      if (named - name == 9 && byteAt(name) == 0x5f) return 0;
      at = skipValue(at, 0);
      if (at == 0) return 0;
    } else {
      guess = field + CELL.next;
      const column = load<u32>(field, CELL.column);
      let stop: usize = 0;
      do {
        stop = storeValue(plan, field, row, at);
        if (stop == 0) return 0;
        if (load<u32>(field, CELL.stamp) != stamp) {
          store<u32>(field, stamp, CELL.stamp);
          found++;
        }
        field += CELL_BYTES;
      } while (field < fields && load<u32>(field, CELL.column) == column);
      at = stop;
    }
    at = skipSpace(at);
    if (byteAt(at) == OBJECT_END) break;
    if (byteAt(at) != COMMA) return 0;
    at = skipSpace(at + 1);
    if (byteAt(at) != QUOTE) return 0;
  }
  if (found != load<u32>(plan, DECODE.fieldCount) && !endRow(plan, row, stamp)) return 0;
  return at + 1;
}

/**
 * Decodes the lines from `from` to `end`, which is behind a newline, into the rows from `row` up to `rowsMax`. Some
 * bytes behind `end` are read and not used.
 */
export function decodeJson(plan: usize, from: usize, end: usize, row: u32, rowsMax: u32): i32 {
  let at = from;
  let lines: u32 = 0;
  let status: i32 = DECODED.end;
  while (at < end) {
    let stop = skipSpace(at);
    if (byteAt(stop) != NEWLINE) {
      if (row == rowsMax) {
        status = DECODED.full;
        break;
      }
      stop = byteAt(stop) == OBJECT ? decodeObject(plan, stop + 1, row) : 0;
      if (stop != 0) stop = skipSpace(stop);
      if (stop == 0 || byteAt(stop) != NEWLINE) {
        status = DECODED.odd;
        break;
      }
      row++;
    }
    at = stop + 1;
    lines++;
  }
  store<u32>(plan, <u32>at, DECODE.next);
  store<u32>(plan, row, DECODE.rows);
  store<u32>(plan, lines, DECODE.lines);
  return status;
}
