// A value that has a type already, a whole number, a float, a text, nothing, as the value of a field. Twins are in
// src/data/cells.ts, and what is not plain is left to them, as in cell.ts.
import { CELL, CELL_BYTES, CELL_FLAG, CELL_KIND, DECODE, NAME, NAME_BYTES } from "../generated/layouts";
import { addId, endIds, holds, readCell, readPlainCell } from "./cell";
import { fingerprint64, upTo16 } from "./farmhash";
import { isText } from "./text";

/** Whole numbers up to here are exact as doubles. */
const SAFE: f64 = 9007199254740991;
const NO_ID: i64 = 0x9ae16a3b2f90404f;

@inline
function isSame(a: usize, b: usize, length: usize): bool {
  let left = length;
  for (; left >= 8; left -= 8, a += 8, b += 8) if (load<u64>(a) != load<u64>(b)) return false;
  return left == 0 || (load<u64>(a) ^ load<u64>(b)) << ((8 - <u64>left) << 3) == 0;
}

@inline
function hasName(field: usize, at: usize, length: usize): bool {
  return <usize>load<u32>(field, CELL.nameBytes) == length && isSame(<usize>load<u32>(field, CELL.name), at, length);
}

/**
 * The first field of the column of this name, 0 without one. `guess` is the address where the field is noted that stood
 * there in the row before.
 */
@inline
export function fieldOf(plan: usize, guess: usize, at: usize, length: usize): usize {
  const guessed = <usize>load<u32>(guess);
  if (guessed != 0 && hasName(guessed, at, length)) return guessed;
  const field = findField(plan, at, length);
  if (field != 0) store<u32>(guess, <u32>field);
  return field;
}

function findField(plan: usize, at: usize, length: usize): usize {
  const fingerprint = length <= 16 ? upTo16(at, <u32>length) : fingerprint64(at, <u32>length);
  const mask = load<u32>(plan, DECODE.nameMask);
  const slots = <usize>load<u32>(plan, DECODE.names);
  let slot = slots + <usize>(<u32>fingerprint & mask) * NAME_BYTES;
  let found = load<u32>(slot, NAME.field);
  let field: usize = 0;
  while (found != 0) {
    field = <usize>load<u32>(plan, DECODE.fields) + <usize>(found - 1) * CELL_BYTES;
    if (load<u64>(slot, NAME.fingerprint) == fingerprint && hasName(field, at, length)) break;
    slot += NAME_BYTES;
    if (slot == slots + (<usize>mask + 1) * NAME_BYTES) slot = slots;
    found = load<u32>(slot, NAME.field);
    field = 0;
  }
  return field;
}

@inline
export function fieldsEnd(plan: usize): usize {
  return <usize>load<u32>(plan, DECODE.fields) + <usize>load<u32>(plan, DECODE.fieldCount) * CELL_BYTES;
}

/** The value `index` of the row of a field, of values of four bytes or eight. */
@inline
function place(field: usize, row: u32, index: u32, shift: usize): usize {
  return <usize>load<u32>(field, CELL.to) + (<usize>(row * load<u32>(field, CELL.width) + index) << shift);
}

/** Writes that nothing is there; false where something has to be. */
export function storeMissing(field: usize, row: u32): bool {
  const kind = load<u32>(field, CELL.kind);
  if (kind == CELL_KIND.ids) {
    endIds(field, row, 0);
    return true;
  }
  if (kind == CELL_KIND.id) {
    store<i64>(place(field, row, 0, 3), NO_ID);
    return true;
  }
  const width = load<u32>(field, CELL.width);
  for (let index: u32 = 0; index < width; index++) if (!storeNone(field, row, index)) return false;
  return true;
}

/** A number that is missing, one of several. */
export function storeNone(field: usize, row: u32, index: u32): bool {
  const kind = load<u32>(field, CELL.kind);
  if (kind != CELL_KIND.float && kind != CELL_KIND.double) return false;
  if (load<u32>(field, CELL.hasMissing) == 0) return false;
  if (kind == CELL_KIND.float) store<f32>(place(field, row, index, 2), load<f32>(field, CELL.missing));
  else store<f64>(place(field, row, index, 3), NaN);
  return true;
}

/** Writes the float `index` of a row. */
@inline
export function storeFloat(field: usize, row: u32, index: u32, value: f64): bool {
  if (value != value) return storeNone(field, row, index);
  const short = <f32>value;
  if (abs(short) == Infinity) return false;
  if (load<u32>(field, CELL.kind) == CELL_KIND.float) store<f32>(place(field, row, index, 2), short);
  else store<f64>(place(field, row, index, 3), value);
  return true;
}

/** Writes the seconds of a time as the twin rounds them. */
@inline
export function storeTime(field: usize, row: u32, value: f64): bool {
  const ms = load<u32>(field, CELL.flags) & CELL_FLAG.ms ? value : value * 1000;
  const seconds = floor(ms / 1000);
  if (!(abs(seconds) <= SAFE)) return false;
  store<i64>(place(field, row, 0, 3), <i64>seconds);
  return true;
}

/** Writes a whole number as the value of a field that has one. */
export function storeWhole(plan: usize, field: usize, row: u32, value: i64): bool {
  const kind = load<u32>(field, CELL.kind);
  if (kind == CELL_KIND.id || kind == CELL_KIND.int) {
    store<i64>(place(field, row, 0, 3), value);
    return true;
  }
  if (kind == CELL_KIND.float || kind == CELL_KIND.double || kind == CELL_KIND.rule || kind == CELL_KIND.time) {
    return storeNumber(field, row, <f64>value);
  }
  // Texts are compared and hashed: its digits.
  const scratch = <usize>load<u32>(plan, DECODE.scratch);
  const end = scratch + 24;
  return readCell(plan, field, row, writeDigits(value, end), end);
}

/** Writes the digits of a number so that they end at `end`; where they begin. */
function writeDigits(value: i64, end: usize): usize {
  let rest: u64 = value < 0 ? -value : value;
  let at = end;
  do {
    store<u8>(--at, <u8>(0x30 + rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) store<u8>(--at, 0x2d);
  return at;
}

/** Writes a number as the value of a field that has one. */
export function storeNumber(field: usize, row: u32, value: f64): bool {
  const kind = load<u32>(field, CELL.kind);
  if (kind == CELL_KIND.float || kind == CELL_KIND.double) return storeFloat(field, row, 0, value);
  if (kind == CELL_KIND.time) return storeTime(field, row, value);
  if (kind == CELL_KIND.rule) {
    if (value != value || abs(<f32>value) == Infinity) return false;
    const isSo = holds(load<u32>(field, CELL.operator), value, load<f64>(field, CELL.operand));
    store<f32>(place(field, row, 0, 2), isSo ? 1 : 0);
    return true;
  }
  if (kind != CELL_KIND.id && kind != CELL_KIND.int) return false;
  if (!(abs(value) <= SAFE) || floor(value) != value) return false;
  store<i64>(place(field, row, 0, 3), <i64>value);
  return true;
}

/** Writes a text as the value of a field that has one; false where its bytes are no text. */
@inline
export function storeText(plan: usize, field: usize, row: u32, at: usize, end: usize): bool {
  return isText(at, end) && readPlainCell(plan, field, row, at, end);
}

/** Writes an id of a list, the `kept`th of the row, whose weight is 1. */
@inline
export function addWhole(field: usize, row: u32, kept: u32, value: i64): bool {
  const index = load<u32>(<usize>load<u32>(field, CELL.to) + (<usize>row << 2)) + kept;
  if (index >= load<u32>(field, CELL.capacity)) return false;
  store<i64>(<usize>load<u32>(field, CELL.values) + (<usize>index << 3), value);
  if (load<u32>(field, CELL.flags) & CELL_FLAG.weighted) setWeight(field, row, kept, 1);
  return true;
}

export function setWeight(field: usize, row: u32, kept: u32, weight: f32): void {
  const at = <usize>(row * load<u32>(field, CELL.perRow) + kept) << 2;
  store<f32>(<usize>load<u32>(field, CELL.weights) + at, weight);
}

/** The same of a number that is whole. */
export function addNumber(field: usize, row: u32, kept: u32, value: f64): bool {
  if (!(abs(value) <= SAFE) || floor(value) != value) return false;
  return addWhole(field, row, kept, <i64>value);
}

/** The same of a text, which is not taken apart. */
export function addText(plan: usize, field: usize, row: u32, kept: u32, at: usize, end: usize): bool {
  return isText(at, end) && addId(plan, field, row, kept, at, end);
}

/** Begins a row: whether fields have it is told by its stamp. */
@inline
export function beginRow(plan: usize): u32 {
  const stamp = load<u32>(plan, DECODE.stamp) + 1;
  store<u32>(plan, stamp, DECODE.stamp);
  return stamp;
}

/** Writes that nothing is there for fields without the stamp. */
export function endRow(plan: usize, row: u32, stamp: u32): bool {
  const end = fieldsEnd(plan);
  for (let field = <usize>load<u32>(plan, DECODE.fields); field < end; field += CELL_BYTES) {
    if (load<u32>(field, CELL.stamp) != stamp && !storeMissing(field, row)) return false;
  }
  return true;
}
