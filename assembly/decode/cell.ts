// A cell of text, as bytes, as the value of a field: of a float, an id, a list of ids, a label, a time. Twins are in
// src/data/cells.ts. What is not plain is left to them: false is returned, and nothing is said of the row.
import { CELL, CELL_FLAG, CELL_KIND, DECODE, RULE } from "../generated/layouts";
import { fingerprint64, upTo16 } from "./farmhash";
import {
  areDigits, digitsOf, eightFrom, isLongWhole, numberIs, readNumber, readWhole, wholeIs,
} from "./numbers";
import { indexOf, lower, trimmedEnd, trimmedStart } from "./text";

/** The id of a text; `wholeIs` is not touched where it is hashed. */
@inline
function idOf(at: usize, length: usize): i64 {
  return length <= 16 ? <i64>upTo16(at, <u32>length) : <i64>fingerprint64(at, <u32>length);
}

export let idIs: i64 = 0;

@inline
export function takenId(): i64 {
  return idIs;
}

/** Reads an id of at most 8 characters: what most are. False where it is not plain. */
@inline
function readShortId(at: usize, length: usize): bool {
  const eight = eightFrom(at, length);
  const first = load<u8>(at);
  if (areDigits(eight)) {
    // Digits behind a zero are a text.
    idIs = first != 0x30 || length == 1 ? <i64>digitsOf(eight) : <i64>upTo16(at, <u32>length);
    return true;
  }
  if (first == 0x2d) return false;
  idIs = <i64>upTo16(at, <u32>length);
  return true;
}

/** Reads an id that is the text: its digits, or its hash. `takenId` has it. */
@inline
export function readId(plan: usize, field: usize, at: usize, end: usize): bool {
  const length = end - at;
  const flags = load<u32>(field, CELL.flags);
  if (length - 1 < 8 && (flags & CELL_FLAG.lower) == 0 && readShortId(at, length)) return true;
  return readLongId(plan, flags, at, end);
}

/** Reads an id of any length; false where it is not plain. */
export function readLongId(plan: usize, flags: u32, at: usize, end: usize): bool {
  const first = <u32>load<u8>(at);
  // Digits and minus: nothing else begins a number.
  if (at < end && (first - 0x30 <= 9 || first == 0x2d)) {
    if (readWhole(at, end)) {
      idIs = wholeIs;
      return true;
    }
    if (isLongWhole(at, end)) return false;
  }
  if (flags & CELL_FLAG.lower) {
    const scratch = <usize>load<u32>(plan, DECODE.scratch);
    if (!lower(at, end - at, scratch)) return false;
    idIs = idOf(scratch, end - at);
    return true;
  }
  idIs = idOf(at, end - at);
  return true;
}

/**
 * Writes the value of a cell as `readCell` does, without a call for what most cells are: short ids, whole numbers of a
 * few digits, nothing.
 */
@inline
export function readPlainCell(plan: usize, field: usize, row: u32, at: usize, end: usize): bool {
  const kind = load<u32>(field, CELL.kind);
  const length = end - at;
  if (length - 1 < 8 && (load<u32>(field, CELL.nulls) | load<u32>(plan, DECODE.decimalComma)) == 0) {
    const to = <usize>load<u32>(field, CELL.to);
    if (kind == CELL_KIND.id && load<u32>(field, CELL.flags) == 0) {
      if (!readShortId(at, length)) return readCell(plan, field, row, at, end);
      store<i64>(to + (<usize>row << 3), idIs);
      return true;
    }
    if (kind == CELL_KIND.float) {
      const eight = eightFrom(at, length);
      if (areDigits(eight)) {
        store<f32>(to + (<usize>row << 2), <f32>(<i32>digitsOf(eight)));
        return true;
      }
    }
  }
  return readCell(plan, field, row, at, end);
}

@inline
export function holds(operator: u32, value: f64, operand: f64): bool {
  if (operator == RULE.atLeast) return value >= operand;
  if (operator == RULE.above) return value > operand;
  if (operator == RULE.atMost) return value <= operand;
  if (operator == RULE.below) return value < operand;
  return (value == operand) == (operator == RULE.equal);
}

@inline
function point(plan: usize, at: usize, end: usize): u32 {
  if (load<u32>(plan, DECODE.decimalComma) == 0) return 0x2e;
  // `3,5`: digits on both sides, and a sign before them at the most.
  for (let i = at; i < end; i++) if (load<u8>(i) == 0x2c) return isCommaNumber(at, end) ? 0x2c : 0x2e;
  return 0x2e;
}

function isCommaNumber(at: usize, end: usize): bool {
  if (load<u8>(at) == 0x2d || load<u8>(at) == 0x2b) at++;
  let commas = 0;
  for (let i = at; i < end; i++) {
    if (load<u8>(i) == 0x2c) {
      if (i == at || i + 1 == end) return false;
      commas++;
    } else if (<u32>load<u8>(i) - 0x30 > 9) return false;
  }
  return commas == 1;
}

/** Writes the value of the cell from `at` to `end` for `row`; false where the slow way has to. */
export function readCell(plan: usize, field: usize, row: u32, at: usize, end: usize): bool {
  const kind = load<u32>(field, CELL.kind);
  const nulls = <usize>load<u32>(field, CELL.nulls);
  if (nulls != 0 && at < end && indexOf(nulls, at, end - at) >= 0) end = at;
  const to = <usize>load<u32>(field, CELL.to);
  if (kind == CELL_KIND.id) {
    if (load<u32>(plan, DECODE.decimalComma) != 0 && isCommaNumber(at, end)) return false;
    if (!readId(plan, field, at, end)) return false;
    store<i64>(to + (<usize>row << 3), idIs);
    return true;
  }
  if (kind == CELL_KIND.float || kind == CELL_KIND.double) {
    if (at == end) {
      if (load<u32>(field, CELL.hasMissing) == 0) return false;
      if (kind == CELL_KIND.float) store<f32>(to + (<usize>row << 2), load<f32>(field, CELL.missing));
      else store<f64>(to + (<usize>row << 3), NaN);
      return true;
    }
    if (!readNumber(at, end, point(plan, at, end), <usize>load<u32>(plan, DECODE.powers))) return false;
    const value = <f32>numberIs;
    if (abs(value) == Infinity) return false;
    if (kind == CELL_KIND.double) {
      store<f64>(to + (<usize>row << 3), numberIs);
      return true;
    }
    store<f32>(to + (<usize>row << 2), value);
    return true;
  }
  if (kind == CELL_KIND.ids) return readIds(plan, field, row, at, end);
  if (at == end && kind != CELL_KIND.hash) return false;
  if (kind == CELL_KIND.rule) {
    if (!readNumber(at, end, point(plan, at, end), <usize>load<u32>(plan, DECODE.powers))) return false;
    if (abs(<f32>numberIs) == Infinity) return false;
    const isSo = holds(load<u32>(field, CELL.operator), numberIs, load<f64>(field, CELL.operand));
    store<f32>(to + (<usize>row << 2), isSo ? 1 : 0);
    return true;
  }
  if (kind == CELL_KIND.text || kind == CELL_KIND.oneOf) {
    if (load<u32>(plan, DECODE.decimalComma) != 0 && isCommaNumber(at, end)) return false;
    const from = trimmedStart(at, end);
    const found = indexOf(<usize>load<u32>(field, CELL.texts), from, trimmedEnd(from, end) - from);
    if (kind == CELL_KIND.oneOf && found < 0) return false;
    store<f32>(to + (<usize>row << 2), kind == CELL_KIND.oneOf ? <f32>found : found >= 0 ? 1 : 0);
    return true;
  }
  if (kind == CELL_KIND.hash) {
    if (load<u32>(plan, DECODE.decimalComma) != 0 && isCommaNumber(at, end)) return false;
    store<i64>(to + (<usize>row << 3), idOf(at, end - at));
    return true;
  }
  // A time or an int64. Times before 1970 would be rounded the other way.
  if (!readWhole(at, end)) return false;
  if (kind == CELL_KIND.int) {
    store<i64>(to + (<usize>row << 3), wholeIs);
    return true;
  }
  if (wholeIs < 0 || wholeIs > 1 << 52) return false;
  const seconds = load<u32>(field, CELL.flags) & CELL_FLAG.ms ? wholeIs / 1000 : wholeIs;
  store<i64>(to + (<usize>row << 3), seconds);
  return true;
}

/** Many ids: parts of the text, trimmed, with their weights. Splits of the row and the next are written. */
function readIds(plan: usize, field: usize, row: u32, at: usize, end: usize): bool {
  if (load<u32>(plan, DECODE.decimalComma) != 0 && isCommaNumber(at, end)) return false;
  const split = load<u32>(field, CELL.split);
  const max = load<u32>(field, CELL.max);
  let kept: u32 = 0;
  while (at < end) {
    let stop = at;
    while (stop < end && <u32>load<u8>(stop) != split) stop++;
    if (kept < max) {
      const from = trimmedStart(at, stop);
      const until = trimmedEnd(from, stop);
      if (from < until && !addId(plan, field, row, kept, from, until)) return false;
      if (from < until && <i32>addedIs == 1) kept++;
    }
    at = stop + 1;
  }
  endIds(field, row, kept);
  return true;
}

/** Whether the part had an id: one that is a weight alone has none. */
export let addedIs: u32 = 0;

/** Adds the id of a part, the `kept`th of the row. */
export function addId(plan: usize, field: usize, row: u32, kept: u32, at: usize, end: usize): bool {
  const flags = load<u32>(field, CELL.flags);
  const splits = <usize>load<u32>(field, CELL.to) + (<usize>row << 2);
  const index = load<u32>(splits) + kept;
  if (index >= load<u32>(field, CELL.capacity)) return false;
  let weight: f32 = 1;
  if (flags & CELL_FLAG.weighted) {
    const mark = load<u32>(field, CELL.weightMark);
    let last = end;
    while (last > at && <u32>load<u8>(last - 1) != mark) last--;
    if (last > at) {
      const from = trimmedStart(last, end);
      const until = trimmedEnd(from, end);
      if (from < until) {
        if (!readNumber(from, until, 0x2e, <usize>load<u32>(plan, DECODE.powers))) return false;
        weight = <f32>numberIs;
        if (abs(weight) == Infinity) return false;
      }
      at = trimmedStart(at, last - 1);
      end = trimmedEnd(at, last - 1);
    }
  }
  addedIs = at < end ? 1 : 0;
  if (at == end) return true;
  if (!readId(plan, field, at, end)) return false;
  store<i64>(<usize>load<u32>(field, CELL.values) + (<usize>index << 3), idIs);
  if (flags & CELL_FLAG.weighted) {
    const place = <usize>(row * load<u32>(field, CELL.perRow) + kept) << 2;
    store<f32>(<usize>load<u32>(field, CELL.weights) + place, weight);
  }
  return true;
}

/** The row has `kept` ids; weights behind them are zeros. */
export function endIds(field: usize, row: u32, kept: u32): void {
  const splits = <usize>load<u32>(field, CELL.to) + (<usize>row << 2);
  store<u32>(splits + 4, load<u32>(splits) + kept);
  if ((load<u32>(field, CELL.flags) & CELL_FLAG.weighted) == 0) return;
  const perRow = load<u32>(field, CELL.perRow);
  const weights = <usize>load<u32>(field, CELL.weights) + (<usize>(row * perRow) << 2);
  for (let i = kept; i < perRow; i++) store<f32>(weights + (<usize>i << 2), 0);
}
