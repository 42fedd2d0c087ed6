// Lists of JSON as the value of a field: ids, pairs of an id and a weight, as many numbers as a field has.
import { CELL, CELL_FLAG, CELL_KIND } from "../generated/layouts";
import { addedIs, addId, endIds, idIs, readLongId } from "./cell";
import {
  byteAt, COMMA, isNumber, isWhole, LIST, LIST_END, nullEnd, numberEnd, openText, QUOTE, readFloat, skipSpace,
  skipValue, textAt, textEnd, wholeDigits,
} from "./json-text";
import { numberIs, readWhole, wholeIs } from "./numbers";
import { addNumber, addWhole, setWeight, storeFloat, storeNone } from "./value";

/** Whole numbers of so many digits are texts. */
export const LONG_DIGITS: u32 = 16;

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
export function storeIds(plan: usize, field: usize, row: u32, at: usize): usize {
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
export function storeNumbers(plan: usize, field: usize, row: u32, at: usize): usize {
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
