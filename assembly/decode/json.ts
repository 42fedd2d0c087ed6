// Lines of JSON as columns: objects of plain values, names in any order. The call ends at any other line, among them
// those that are no JSON, which the caller reads the slow way. Twin: src/data/files/json-rows.ts.
import { CELL, CELL_BYTES, CELL_FLAG, CELL_KIND, DECODE, DECODED } from "../generated/layouts";
import { addedIs, addId, endIds, idIs, readCell, readLongId, readPlainCell } from "./cell";
import {
  falseEnd, isEscaped, isWhole, nullEnd, numberEnd, QUOTE, skipSpace, skipValue, stringEnd, trueEnd, unescape,
  wholeDigits,
} from "./json-text";
import { numberIs, readNumber, readWhole, wholeIs } from "./numbers";
import {
  addNumber, addWhole, beginRow, endRow, fieldOf, fieldsEnd, setWeight, storeFloat, storeMissing, storeNone,
  storeNumber, storeWhole,
} from "./value";

const NEWLINE: u32 = 0x0a;
const COMMA: u32 = 0x2c, COLON: u32 = 0x3a;
const LIST: u32 = 0x5b, LIST_END: u32 = 0x5d, OBJECT: u32 = 0x7b, OBJECT_END: u32 = 0x7d;
/** Whole numbers of so many digits are texts. */
const LONG_DIGITS: u32 = 16;

@inline
function byteAt(at: usize): u32 {
  return <u32>load<u8>(at);
}

@inline
function isNumber(byte: u32): bool {
  return byte - 0x30 <= 9 || byte == 0x2d;
}

/** Reads the number at hand, whatever it is, as a double. */
@inline
function readFloat(plan: usize, at: usize, end: usize): bool {
  return readNumber(at, end, 0x2e, <usize>load<u32>(plan, DECODE.powers));
}

let textAt: usize = 0;
let textEnd: usize = 0;

/** Finds the text whose quote is at `at`, without its escapes; where it ends in the line, 0 where it does not. */
@inline
function openText(plan: usize, at: usize): usize {
  const stop = stringEnd(at + 1);
  if (stop == 0) return 0;
  textAt = at + 1;
  textEnd = stop;
  if (isEscaped) {
    const to = <usize>load<u32>(plan, DECODE.list);
    textEnd = unescape(at + 1, stop, to);
    if (textEnd == 0) return 0;
    textAt = to;
  }
  return stop + 1;
}

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

/** Adds the number as an id of a list. */
function addDigits(plan: usize, field: usize, row: u32, kept: u32, at: usize, end: usize): bool {
  if (!isWhole) return readFloat(plan, at, end) && addNumber(field, row, kept, numberIs);
  // A long one is a text, which may hold what stands before a weight.
  if (wholeDigits >= LONG_DIGITS) return addId(plan, field, row, kept, at, end);
  return readWhole(at, end) && addWhole(field, row, kept, wholeIs);
}

/** Adds the pair of an id and its weight; where it ends, 0 where it is another list. */
function addPair(plan: usize, field: usize, row: u32, kept: u32, at: usize): usize {
  at = skipSpace(at);
  const first = byteAt(at);
  let isThere: u32 = 1;
  let id: i64 = 0;
  if (first == QUOTE) {
    at = openText(plan, at);
    if (at == 0) return 0;
    isThere = textAt < textEnd ? 1 : 0;
    if (isThere && !readLongId(plan, load<u32>(field, CELL.flags), textAt, textEnd)) return 0;
    id = idIs;
  } else if (isNumber(first)) {
    const stop = numberEnd(at);
    if (stop == 0 || !isWhole || !readWhole(at, stop)) return 0;
    id = wholeIs;
    at = stop;
  } else {
    at = nullEnd(at);
    if (at == 0) return 0;
    isThere = 0;
  }
  at = skipSpace(at);
  let weight: f32 = 1;
  if (byteAt(at) == COMMA) {
    at = skipSpace(at + 1);
    if (isNumber(byteAt(at))) {
      const stop = numberEnd(at);
      if (stop == 0 || !readFloat(plan, at, stop)) return 0;
      weight = <f32>numberIs;
      if (abs(weight) == Infinity) return 0;
      at = stop;
    } else {
      at = nullEnd(at);
      if (at == 0) return 0;
    }
    at = skipSpace(at);
  }
  if (byteAt(at) != LIST_END) return 0;
  addedPair = isThere;
  if (isThere) {
    if (!addWhole(field, row, kept, id)) return 0;
    setWeight(field, row, kept, weight);
  }
  return at + 1;
}

/** Whether the pair had an id. */
let addedPair: u32 = 0;

/** Writes the ids of the list whose first value is at `at`; where it ends, 0 where it is not plain. */
function storeIds(plan: usize, field: usize, row: u32, at: usize): usize {
  const max = load<u32>(field, CELL.max);
  const isWeighted = (load<u32>(field, CELL.flags) & CELL_FLAG.weighted) != 0;
  let kept: u32 = 0;
  at = skipSpace(at);
  if (byteAt(at) == LIST_END) {
    endIds(field, row, 0);
    return at + 1;
  }
  while (true) {
    const first = byteAt(at);
    if (kept == max) at = skipValue(at, 0);
    else if (first == QUOTE) {
      at = openText(plan, at);
      if (at == 0) return 0;
      if (textAt < textEnd) {
        if (!addId(plan, field, row, kept, textAt, textEnd)) return 0;
        kept += addedIs;
      }
    } else if (isNumber(first)) {
      const stop = numberEnd(at);
      if (stop == 0 || !addDigits(plan, field, row, kept, at, stop)) return 0;
      kept++;
      at = stop;
    } else if (first == LIST && isWeighted) {
      at = addPair(plan, field, row, kept, at + 1);
      if (at == 0) return 0;
      kept += addedPair;
    } else at = nullEnd(at);
    if (at == 0) return 0;
    at = skipSpace(at);
    const next = byteAt(at);
    if (next == LIST_END) break;
    if (next != COMMA) return 0;
    at = skipSpace(at + 1);
  }
  endIds(field, row, kept);
  return at + 1;
}

/** Writes the numbers of a list, as many as the field has. */
function storeNumbers(plan: usize, field: usize, row: u32, at: usize): usize {
  const width = load<u32>(field, CELL.width);
  const isInt = load<u32>(field, CELL.kind) == CELL_KIND.int;
  const to = <usize>load<u32>(field, CELL.to) + (<usize>(row * width) << 3);
  for (let index: u32 = 0; index < width; index++) {
    at = skipSpace(at);
    if (isNumber(byteAt(at))) {
      const stop = numberEnd(at);
      if (stop == 0) return 0;
      if (isInt) {
        if (!isWhole || !readWhole(at, stop)) return 0;
        store<i64>(to + (<usize>index << 3), wholeIs);
      } else if (!readFloat(plan, at, stop) || !storeFloat(field, row, index, numberIs)) return 0;
      at = stop;
    } else {
      at = nullEnd(at);
      if (at == 0 || !storeNone(field, row, index)) return 0;
    }
    at = skipSpace(at);
    if (byteAt(at) != (index + 1 == width ? LIST_END : COMMA)) return 0;
    at++;
  }
  return at;
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
  at = skipSpace(at);
  while (byteAt(at) != OBJECT_END) {
    if (byteAt(at) != QUOTE) return 0;
    const name = at + 1;
    const named = stringEnd(name);
    if (named == 0 || isEscaped) return 0;
    at = skipSpace(named + 1);
    if (byteAt(at) != COLON) return 0;
    at = skipSpace(at + 1);
    let field = fieldOf(plan, name, named - name);
    if (field == 0) {
      // Maybe a name that no row may have.
      if (named - name == 9 && byteAt(name) == 0x5f) return 0;
      at = skipValue(at, 0);
      if (at == 0) return 0;
    } else {
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
