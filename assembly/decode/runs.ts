// Runs of small whole numbers as Parquet has them, repeated or packed in bits, and what they choose: which rows have a
// value, which value of a dictionary, where lists begin. src/memory/pages-layout.ts draws the state. A page may lie:
// whatever is read is held to the end of its bytes before. Twin: `readRleBitPackedHybrid` of hyparquet, in the tests.
import { LISTS, RUNS } from "../generated/layouts";

/** So many groups of eight still have a count of 32 bits. */
const GROUPS_MAX: u32 = 0x1fffffff;

/** Begins the next run; false where there is none. */
function beginRun(runs: usize): bool {
  let at = <usize>load<u32>(runs, RUNS.at);
  const end = <usize>load<u32>(runs, RUNS.end);
  const width = load<u32>(runs, RUNS.width);
  let header: u32 = 0;
  for (let shift: u32 = 0; ; shift += 7) {
    if (at >= end || shift > 28) return false;
    const byte = <u32>load<u8>(at++);
    header |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  const count = header >> 1;
  const isPacked = header & 1;
  store<u32>(runs, isPacked, RUNS.packed);
  if (isPacked) {
    if (count > GROUPS_MAX) return false;
    // The last group may be cut off behind the values that are there.
    const bytes = min<u64>(<u64>count * <u64>width, <u64>(end - at));
    store<u32>(runs, count << 3, RUNS.left);
    store<u32>(runs, 0, RUNS.bit);
    store<u32>(runs, <u32>(at + <usize>bytes), RUNS.next);
  } else {
    const bytes = <usize>(width + 7 >> 3);
    if (end - at < bytes) return false;
    let value: u32 = 0;
    for (let i: usize = 0; i < bytes; i++) value |= <u32>load<u8>(at + i) << <u32>(i << 3);
    at += bytes;
    store<u32>(runs, count, RUNS.left);
    store<u32>(runs, value, RUNS.value);
  }
  store<u32>(runs, <u32>at, RUNS.at);
  return true;
}

/** Writes `count` values of the packed run; false where its bytes do not have them. */
@inline
function unpack(runs: usize, to: usize, count: u32): bool {
  const at = <usize>load<u32>(runs, RUNS.at);
  const width = load<u32>(runs, RUNS.width);
  let bit = load<u32>(runs, RUNS.bit);
  const bits = <u64>bit + <u64>count * <u64>width;
  if ((bits + 7 >> 3) > <u64>(<usize>load<u32>(runs, RUNS.next) - at)) return false;
  const mask: u64 = (<u64>1 << <u64>width) - 1;
  for (let i: u32 = 0; i < count; i++, to += 4, bit += width) {
    store<u32>(to, <u32>(load<u64>(at + <usize>(bit >> 3)) >> <u64>(bit & 7) & mask));
  }
  store<u32>(runs, <u32>(at + <usize>(bits >> 3)), RUNS.at);
  store<u32>(runs, <u32>(bits & 7), RUNS.bit);
  return true;
}

@inline
function repeat(value: u32, to: usize, count: u32): void {
  const four = i32x4.splat(<i32>value);
  let i: u32 = 0;
  for (; i + 4 <= count; i += 4) v128.store(to + (<usize>i << 2), four);
  for (; i < count; i++) store<u32>(to + (<usize>i << 2), value);
}

/** Writes the next `count` values as u32; how many there were. */
export function readRuns(runs: usize, to: usize, count: u32): u32 {
  let done: u32 = 0;
  while (done < count) {
    const left = load<u32>(runs, RUNS.left);
    if (left == 0) {
      if (!beginRun(runs)) break;
      continue;
    }
    const some = min<u32>(left, count - done);
    const isPacked = load<u32>(runs, RUNS.packed) != 0;
    if (!isPacked) repeat(load<u32>(runs, RUNS.value), to + (<usize>done << 2), some);
    else if (!unpack(runs, to + (<usize>done << 2), some)) break;
    store<u32>(runs, left - some, RUNS.left);
    if (isPacked && left == some) store<u32>(runs, load<u32>(runs, RUNS.next), RUNS.at);
    done += some;
  }
  return done;
}

/**
 * Levels of `count` rows that are 0 or 1: how many are 1, -1 where there are not so many levels. They are written only
 * where they differ from row to row.
 */
export function readPresence(runs: usize, to: usize, count: u32): i32 {
  while (load<u32>(runs, RUNS.left) == 0) if (!beginRun(runs)) return -1;
  const left = load<u32>(runs, RUNS.left);
  if (left >= count && load<u32>(runs, RUNS.packed) == 0) {
    const value = load<u32>(runs, RUNS.value);
    if (value > 1) return -1;
    store<u32>(runs, left - count, RUNS.left);
    return value == 1 ? <i32>count : 0;
  }
  if (readRuns(runs, to, count) < count) return -1;
  let sum: u32 = 0;
  let seen: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const level = load<u32>(to + (<usize>i << 2));
    sum += level;
    seen |= level;
  }
  return seen > 1 ? -1 : <i32>sum;
}

/** Values of 32 bits to the rows whose mask is 1, in order, what is missing to the others. */
export function spread32(from: usize, mask: usize, to: usize, count: u32, missing: usize): void {
  const none = load<u32>(missing);
  for (let i: u32 = 0; i < count; i++) {
    const is = load<u32>(mask + (<usize>i << 2));
    store<u32>(to + (<usize>i << 2), select<u32>(load<u32>(from), none, is != 0));
    from += <usize>is << 2;
  }
}

/** The same of 64 bits. */
export function spread64(from: usize, mask: usize, to: usize, count: u32, missing: usize): void {
  const none = load<u64>(missing);
  for (let i: u32 = 0; i < count; i++) {
    const is = load<u32>(mask + (<usize>i << 2));
    store<u64>(to + (<usize>i << 3), select<u64>(load<u64>(from), none, is != 0));
    from += <usize>is << 3;
  }
}

/** Values of 32 bits by their indices, of which there are `bound`; how many there were before one that is none. */
export function pick32(from: usize, bound: u32, indices: usize, to: usize, count: u32): u32 {
  for (let i: u32 = 0; i < count; i++) {
    const index = load<u32>(indices + (<usize>i << 2));
    if (index >= bound) return i;
    store<u32>(to + (<usize>i << 2), load<u32>(from + (<usize>index << 2)));
  }
  return count;
}

/** The same of 64 bits. */
export function pick64(from: usize, bound: u32, indices: usize, to: usize, count: u32): u32 {
  for (let i: u32 = 0; i < count; i++) {
    const index = load<u32>(indices + (<usize>i << 2));
    if (index >= bound) return i;
    store<u64>(to + (<usize>i << 3), load<u64>(from + (<usize>index << 3)));
  }
  return count;
}

/**
 * Goes over levels of lists until `rowsMax` rows were begun and another one begins; how many levels were used, -1 where
 * they are none. A value is there where a level is `full`. `lists` has rows and values so far; `splits` get the ends.
 */
export function readLists(
  repeats: usize, levels: usize, count: u32, full: u32, lists: usize, splits: usize, rowsMax: u32,
): i32 {
  let row = load<u32>(lists, LISTS.rows);
  let values = load<u32>(lists, LISTS.values);
  let i: u32 = 0;
  for (; i < count; i++) {
    const repeated = load<u32>(repeats + (<usize>i << 2));
    const level = load<u32>(levels + (<usize>i << 2));
    if (repeated > 1 || level > full) return -1;
    if (repeated == 0) {
      if (row == rowsMax) break;
      row++;
    } else if (row == 0) return -1;
    if (level == full) values++;
    store<u32>(splits + (<usize>row << 2), values);
  }
  store<u32>(lists, row, LISTS.rows);
  store<u32>(lists, values, LISTS.values);
  return <i32>i;
}
