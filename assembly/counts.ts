// Numbers that a program keeps from step to step, and numbers of 64 bits that it makes of a batch for them.
import { TIME_UNKNOWN } from "./generated/layouts";

/** Adds `count` to the i64 at `counter`. */
export function addCountI64(counter: usize, count: u32): void {
  store<i64>(counter, load<i64>(counter) + <i64>count);
}

/** dst[0] = sum of the i64 that lie `srcStride` apart from `src` on, modulo 2^64. */
export function sumI64(src: usize, srcStride: u32, rows: u32, dst: usize): void {
  let sum: i64 = 0;
  for (let row: u32 = 0; row < rows; row++, src += <usize>srcStride << 3) sum += load<i64>(src);
  store<i64>(dst, sum);
}

/** dst[0] = the largest of the i64 that lie `srcStride` apart from `src` on; the smallest i64 there is without rows. */
export function maxI64(src: usize, srcStride: u32, rows: u32, dst: usize): void {
  let largest = i64.MIN_VALUE;
  for (let row: u32 = 0; row < rows; row++, src += <usize>srcStride << 3) largest = max(largest, load<i64>(src));
  store<i64>(dst, largest);
}

/** Adds the parts of all slices, `sliceStride` bytes apart, to the i64 at `counter`. */
export function addSlicesI64(counter: usize, parts: usize, sliceStride: u32, slices: u32): void {
  let sum = load<i64>(counter);
  for (let slice: u32 = 0; slice < slices; slice++, parts += sliceStride) sum += load<i64>(parts);
  store<i64>(counter, sum);
}

/** The largest part of all slices as a time of rows; TIME_UNKNOWN when it is below 0. */
export function latestOfSlices(parts: usize, sliceStride: u32, slices: u32): u32 {
  let latest: i64 = -1;
  for (let slice: u32 = 0; slice < slices; slice++, parts += sliceStride) latest = max(latest, load<i64>(parts));
  return latest < 0 ? TIME_UNKNOWN : <u32>min<i64>(latest, TIME_UNKNOWN - 1);
}

/**
 * Opens a new generation of a uniqueI64 scratch table, whose cells thereby count as empty, and returns it. The last one
 * is kept at `cell`; when the number wraps, the table is cleared.
 */
export function advanceGeneration(cell: usize, table: usize, cells: u32): u32 {
  let generation = load<u32>(cell) + 1;
  if (generation == 0) {
    memory.fill(table, 0, <usize>cells << 4);
    generation = 1;
  }
  store<u32>(cell, generation);
  return generation;
}

@inline
function shareBegin(count: usize, share: u32, shares: u32): u64 {
  return <u64>load<u32>(count) * <u64>share / <u64>shares;
}

/** How many of the things counted at `count` are the share `share` of `shares`. */
export function shareOf(count: usize, share: u32, shares: u32): u32 {
  return <u32>(shareBegin(count, share + 1, shares) - shareBegin(count, share, shares));
}

/** Where that share begins in a list from `base` on, of things of `bytes` bytes. */
export function shareAt(base: u32, count: usize, share: u32, shares: u32, bytes: u32): u32 {
  return base + <u32>shareBegin(count, share, shares) * bytes;
}
