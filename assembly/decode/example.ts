// Records of tf.Example as columns: frame, checksums, features by name, in one pass over the bytes. The call ends at a
// record that is damaged or written in a way that writers do not; the caller reads it by src/data/files/example-row.ts.
import { CELL, CELL_BYTES, CELL_KIND, DECODE, DECODED, DECODE_LIST_MAX } from "../generated/layouts";
import { addedIs, endIds } from "./cell";
import { maskedChecksum } from "./checksum";
import {
  addNumber, addText, addWhole, beginRow, endRow, fieldOf, fieldsEnd, storeFloat, storeMissing, storeNumber,
  storeText, storeWhole,
} from "./value";
import { readVarint, varintIs } from "./varint";

const HEADER: usize = 12;
const FRAME: usize = 16;
/** Tags of fields that hold bytes: the first, the second, the third of a message. */
const FIRST: u32 = 0x0a, SECOND: u32 = 0x12, THIRD: u32 = 0x1a;
/** Tags of the first field of a list whose values are not packed. */
const VARINT: u32 = 0x08, FIXED32: u32 = 0x0d;

/** Where the bytes behind the tag at `openAt` end; 0 where another tag is, or they reach too far. */
let openAt: usize = 0;

@inline
function open(tag: u32, at: usize, end: usize): usize {
  if (at + 1 >= end || <u32>load<u8>(at) != tag) return 0;
  let size = <u32>load<u8>(at + 1);
  at += 2;
  if (size >= 0x80) {
    size &= 0x7f;
    let shift: u32 = 7;
    for (;;) {
      if (at >= end || shift > 21) return 0;
      const byte = <u32>load<u8>(at++);
      size |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
      shift += 7;
    }
  }
  openAt = at;
  return <usize>size <= end - at ? at + <usize>size : 0;
}

/** Reads the whole numbers of a list into `to`; how many, -1 where they are not plain or too many. */
function readWholes(at: usize, end: usize, to: usize): i32 {
  let count: u32 = 0;
  while (at < end) {
    let stop = end;
    if (<u32>load<u8>(at) == VARINT) {
      stop = readVarint(at + 1, end);
      if (stop == 0 || count == DECODE_LIST_MAX) return -1;
      store<i64>(to + (<usize>count << 3), varintIs);
      count++;
      at = stop;
      continue;
    }
    stop = open(FIRST, at, end);
    if (stop == 0) return -1;
    at = openAt;
    while (at < stop) {
      at = readVarint(at, stop);
      if (at == 0 || count == DECODE_LIST_MAX) return -1;
      store<i64>(to + (<usize>count << 3), varintIs);
      count++;
    }
  }
  return <i32>count;
}

/** The same of floats. */
function readFloats(at: usize, end: usize, to: usize): i32 {
  let count: u32 = 0;
  while (at < end) {
    let stop = at + 5;
    if (<u32>load<u8>(at) == FIXED32) at++;
    else {
      stop = open(FIRST, at, end);
      if (stop == 0) return -1;
      at = openAt;
    }
    if (stop > end || (stop - at & 3) != 0 || <u32>(stop - at >> 2) > DECODE_LIST_MAX - count) return -1;
    memory.copy(to + (<usize>count << 2), at, stop - at);
    count += <u32>(stop - at >> 2);
    at = stop;
  }
  return <i32>count;
}

/** Writes the whole numbers of a list, which has several or stands where several are. */
function storeWholes(field: usize, row: u32, from: usize, count: u32): bool {
  const kind = load<u32>(field, CELL.kind);
  if (kind == CELL_KIND.ids) {
    const max = load<u32>(field, CELL.max);
    const kept = min(count, max);
    for (let i: u32 = 0; i < kept; i++) if (!addWhole(field, row, i, load<i64>(from + (<usize>i << 3)))) return false;
    endIds(field, row, kept);
    return true;
  }
  const width = load<u32>(field, CELL.width);
  if (width == 1 || width != count) return false;
  if (kind == CELL_KIND.int) {
    memory.copy(<usize>load<u32>(field, CELL.to) + (<usize>(row * width) << 3), from, <usize>width << 3);
    return true;
  }
  for (let i: u32 = 0; i < width; i++) {
    if (!storeFloat(field, row, i, <f64>load<i64>(from + (<usize>i << 3)))) return false;
  }
  return true;
}

/** The same of floats. */
function storeFloats(field: usize, row: u32, from: usize, count: u32): bool {
  const kind = load<u32>(field, CELL.kind);
  if (kind == CELL_KIND.ids) {
    const max = load<u32>(field, CELL.max);
    let kept: u32 = 0;
    for (let i: u32 = 0; i < count && kept < max; i++) {
      const value = load<f32>(from + (<usize>i << 2));
      if (value != value) continue;
      if (!addNumber(field, row, kept, <f64>value)) return false;
      kept++;
    }
    endIds(field, row, kept);
    return true;
  }
  const width = load<u32>(field, CELL.width);
  if (width == 1 || width != count || kind == CELL_KIND.int) return false;
  for (let i: u32 = 0; i < width; i++) {
    if (!storeFloat(field, row, i, <f64>load<f32>(from + (<usize>i << 2)))) return false;
  }
  return true;
}

/** Texts of a list of more than one: ids, of which empty ones are none. */
function storeTexts(plan: usize, field: usize, row: u32, at: usize, end: usize): bool {
  if (load<u32>(field, CELL.kind) != CELL_KIND.ids) return false;
  const max = load<u32>(field, CELL.max);
  let kept: u32 = 0;
  while (at < end) {
    const stop = open(FIRST, at, end);
    if (stop == 0) return false;
    if (kept < max && openAt < stop) {
      if (!addText(plan, field, row, kept, openAt, stop)) return false;
      kept += addedIs;
    }
    at = stop;
  }
  endIds(field, row, kept);
  return true;
}

/** Tags and lengths of a list of one float. */
const ONE_FLOAT: u32 = 0x040a0612;
/** Tags of a list of packed whole numbers, whose lengths are one byte, and where they stand. */
const WHOLES: u32 = 0x000a001a, WHOLES_MASK: u32 = 0x00ff00ff;

/**
 * Writes the value of one field of a feature that ends at `end`. What most features are, one number as writers write
 * it, is looked for first.
 */
@inline
function storeFeature(plan: usize, field: usize, row: u32, at: usize, end: usize): bool {
  const size = end - at;
  const head = load<u32>(at);
  if (
    (head & WHOLES_MASK) == WHOLES && <usize>(head >> 8 & 0xff) == size - 2 && <usize>(head >> 24) == size - 4 &&
    size <= 0x7f && load<u32>(field, CELL.width) == 1
  ) {
    const kind = load<u32>(field, CELL.kind);
    if ((kind == CELL_KIND.id || kind == CELL_KIND.int) && readVarint(at + 4, end) == end) {
      store<i64>(<usize>load<u32>(field, CELL.to) + (<usize>row << 3), varintIs);
      return true;
    }
  } else if (head == ONE_FLOAT && size == 8 && load<u32>(field, CELL.kind) == CELL_KIND.float) {
    const value = load<f32>(at + 4);
    if (load<u32>(field, CELL.width) == 1 && abs(value) < Infinity) {
      store<f32>(<usize>load<u32>(field, CELL.to) + (<usize>row << 2), value);
      return true;
    }
  }
  return storeAnyFeature(plan, field, row, at, end);
}

function storeAnyFeature(plan: usize, field: usize, row: u32, at: usize, end: usize): bool {
  if (at == end) return storeMissing(field, row);
  const tag = <u32>load<u8>(at);
  if (open(tag, at, end) != end) return false;
  at = openAt;
  if (at == end) return storeMissing(field, row);
  const width = load<u32>(field, CELL.width);
  if (tag == FIRST) {
    const stop = open(FIRST, at, end);
    if (stop == 0) return false;
    return stop == end && width == 1 ? storeText(plan, field, row, openAt, end) : storeTexts(plan, field, row, at, end);
  }
  const list = <usize>load<u32>(plan, DECODE.list);
  const kind = load<u32>(field, CELL.kind);
  if (tag == THIRD) {
    const count = readWholes(at, end, list);
    if (count < 0) return false;
    if (count == 0) return storeMissing(field, row);
    if (count > 1 || width > 1 || kind == CELL_KIND.ids) return storeWholes(field, row, list, <u32>count);
    return storeWhole(plan, field, row, load<i64>(list));
  }
  if (tag != SECOND) return false;
  const count = readFloats(at, end, list);
  if (count < 0) return false;
  if (count == 0) return storeMissing(field, row);
  if (count > 1 || width > 1 || kind == CELL_KIND.ids) return storeFloats(field, row, list, <u32>count);
  const value = load<f32>(list);
  return value == value ? storeNumber(field, row, <f64>value) : storeMissing(field, row);
}

/** Writes the row of an example; false where the slow way has to. */
function decodeExample(plan: usize, at: usize, end: usize, row: u32): bool {
  const stamp = beginRow(plan);
  const fields = fieldsEnd(plan);
  if (at < end) {
    if (open(FIRST, at, end) != end) return false;
    at = openAt;
  }
  let found: u32 = 0;
  let guess: usize = plan + DECODE.firstField;
  while (at < end) {
    const entry = open(FIRST, at, end);
    if (entry == 0) return false;
    const named = open(FIRST, openAt, entry);
    if (named == 0) return false;
    const name = openAt;
    if (open(SECOND, named, entry) != entry) return false;
    const value = openAt;
    at = entry;
    let field = fieldOf(plan, guess, name, named - name);
    if (field == 0) {
      if (named - name == 9 && load<u8>(name) == 0x5f) return false;
      continue;
    }
    guess = field + CELL.next;
    const column = load<u32>(field, CELL.column);
    do {
      if (!storeFeature(plan, field, row, value, entry)) return false;
      if (load<u32>(field, CELL.stamp) != stamp) {
        store<u32>(field, stamp, CELL.stamp);
        found++;
      }
      field += CELL_BYTES;
    } while (field < fields && load<u32>(field, CELL.column) == column);
  }
  return found == load<u32>(plan, DECODE.fieldCount) || endRow(plan, row, stamp);
}

/**
 * Decodes the records from `from` to `end`, of which the last may be cut, into the rows from `row` up to `rowsMax`.
 * Some bytes behind `end` are read and not used.
 */
export function decodeExamples(plan: usize, from: usize, end: usize, row: u32, rowsMax: u32): i32 {
  const checksums = <usize>load<u32>(plan, DECODE.checksums);
  const first = row;
  let at = from;
  let status: i32 = DECODED.end;
  while (end - at >= FRAME) {
    if (row == rowsMax) {
      status = DECODED.full;
      break;
    }
    const size = load<u64>(at);
    if (size > <u64>(end - at - FRAME)) break;
    const payload = at + HEADER;
    const stop = payload + <usize>size;
    if (
      load<u32>(at + 8) != maskedChecksum(checksums, at, 8) ||
      load<u32>(stop) != maskedChecksum(checksums, payload, <usize>size) || !decodeExample(plan, payload, stop, row)
    ) {
      status = DECODED.odd;
      break;
    }
    at = stop + 4;
    row++;
  }
  store<u32>(plan, <u32>at, DECODE.next);
  store<u32>(plan, row, DECODE.rows);
  store<u32>(plan, row - first, DECODE.lines);
  return status;
}
