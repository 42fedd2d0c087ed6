// Numbers of a page as the value of a field: of a float, an id, a label, a time. Twins are in src/data/cells.ts. The
// functions say how many values they wrote: the next one is left to the twin.
import { CELL, CELL_FLAG, CELL_KIND, DECODE, NUMBER_TYPE } from "../generated/layouts";
import { holds, readCell } from "./cell";
import { fingerprint64 } from "./farmhash";

/** Whole numbers beyond are not all exact. */
const SAFE_MAX: f64 = 9007199254740991;
const I64_END: f64 = 9223372036854775808;

@inline
function isFinite32(value: f64): bool {
  return abs(<f32>value) < Infinity;
}

function floats<T>(field: usize, from: usize, to: usize, count: u32): u32 {
  const hasMissing = load<u32>(field, CELL.hasMissing) != 0;
  const missing = load<f32>(field, CELL.missing);
  for (let i: u32 = 0; i < count; i++, from += sizeof<T>(), to += 4) {
    // By way of a double, as JavaScript has it.
    const number = <f64>load<T>(from);
    let value = <f32>number;
    if (isFloat<T>() && !(abs(value) < Infinity)) {
      if (!isNaN(number) || !hasMissing) return i;
      value = missing;
    }
    store<f32>(to, value);
  }
  return count;
}

function doubles<T>(from: usize, to: usize, count: u32): u32 {
  for (let i: u32 = 0; i < count; i++, from += sizeof<T>(), to += 8) {
    const number = <f64>load<T>(from);
    if (isFloat<T>() && !isFinite32(number) && !isNaN(number)) return i;
    store<f64>(to, number);
  }
  return count;
}

function ids<T>(kind: u32, from: usize, to: usize, count: u32): u32 {
  for (let i: u32 = 0; i < count; i++, from += sizeof<T>(), to += 8) {
    const number = load<T>(from);
    if (isFloat<T>()) {
      const value = <f64>number;
      if (isNaN(value) && kind == CELL_KIND.id) {
        store<i64>(to, <i64>fingerprint64(from, 0));
        continue;
      }
      if (!(abs(value) <= SAFE_MAX) || trunc(value) != value) return i;
      store<i64>(to, <i64>value);
    } else store<i64>(to, <i64>number);
  }
  return count;
}

function rules<T>(field: usize, from: usize, to: usize, count: u32): u32 {
  const operator = load<u32>(field, CELL.operator);
  const operand = load<f64>(field, CELL.operand);
  for (let i: u32 = 0; i < count; i++, from += sizeof<T>(), to += 4) {
    const number = <f64>load<T>(from);
    if (isFloat<T>() && !isFinite32(number)) return i;
    store<f32>(to, holds(operator, number, operand) ? 1 : 0);
  }
  return count;
}

function times<T>(field: usize, from: usize, to: usize, count: u32): u32 {
  const isMs = (load<u32>(field, CELL.flags) & CELL_FLAG.ms) != 0;
  for (let i: u32 = 0; i < count; i++, from += sizeof<T>(), to += 8) {
    const number = <f64>load<T>(from);
    const seconds = floor((isMs ? number : number * 1000) / 1000);
    if (!(abs(seconds) < I64_END)) return i;
    store<i64>(to, <i64>seconds);
  }
  return count;
}

/** Digits of a whole number at the scratch of the plan; the address of the first. They end at `digitsEnd`. */
let digitsEnd: usize = 0;

function digitsOf<T>(plan: usize, number: T): usize {
  let at = <usize>load<u32>(plan, DECODE.scratch) + 32;
  digitsEnd = at;
  const isNegative = isSigned<T>() && number < 0;
  let rest = isNegative ? 0 - <u64>(<i64>number) : <u64>number;
  do {
    store<u8>(--at, <u8>(rest % 10) + 0x30);
    rest /= 10;
  } while (rest != 0);
  if (isNegative) store<u8>(--at, 0x2d);
  return at;
}

function texts<T>(plan: usize, field: usize, from: usize, to: usize, count: u32): u32 {
  if (isFloat<T>()) return 0;
  store<u32>(field, <u32>to, CELL.to);
  for (let i: u32 = 0; i < count; i++, from += sizeof<T>()) {
    const at = digitsOf<T>(plan, load<T>(from));
    if (!readCell(plan, field, i, at, digitsEnd)) return i;
  }
  return count;
}

function numbers<T>(kind: u32, plan: usize, field: usize, from: usize, to: usize, count: u32): u32 {
  if (kind == CELL_KIND.float) return floats<T>(field, from, to, count);
  if (kind == CELL_KIND.id || kind == CELL_KIND.int || kind == CELL_KIND.ids) return ids<T>(kind, from, to, count);
  if (kind == CELL_KIND.double) return doubles<T>(from, to, count);
  if (kind == CELL_KIND.rule) return rules<T>(field, from, to, count);
  if (kind == CELL_KIND.time) return times<T>(field, from, to, count);
  return texts<T>(plan, field, from, to, count);
}

/** Numbers of a type as values of the field, whose kind is given anew: the ids of a list are ids. */
export function readNumbers(
  type: u32, kind: u32, plan: usize, field: usize, from: usize, to: usize, count: u32,
): u32 {
  if (type == NUMBER_TYPE.int32) return numbers<i32>(kind, plan, field, from, to, count);
  if (type == NUMBER_TYPE.uint32) return numbers<u32>(kind, plan, field, from, to, count);
  if (type == NUMBER_TYPE.int64) return numbers<i64>(kind, plan, field, from, to, count);
  if (type == NUMBER_TYPE.uint64) return numbers<u64>(kind, plan, field, from, to, count);
  if (type == NUMBER_TYPE.float32) return numbers<f32>(kind, plan, field, from, to, count);
  return numbers<f64>(kind, plan, field, from, to, count);
}

/** Times in whole parts of a second as seconds; those before 1970 are left to the twin. */
export function readTimes(perSecond: u32, from: usize, to: usize, count: u32): u32 {
  for (let i: u32 = 0; i < count; i++) {
    const time = load<i64>(from + (<usize>i << 3));
    if (time < 0) return i;
    store<i64>(to + (<usize>i << 3), time / <i64>perSecond);
  }
  return count;
}
