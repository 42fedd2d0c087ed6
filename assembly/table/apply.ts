// The update of a table: gradients of all slices summed per id, each row stepped once.
import { addRowF32 } from "../sparse";
import { findSlot, ROW_SUMMING } from "./index";
import { upsertSlot } from "./rows";
import { stepSegment } from "./step";

const CHUNK: usize = 256;
/** Rows that are stepped together: with their gradients they stay in the nearest cache. */
const OPTIMIZED_ROWS: usize = 64;

/** The same where rows are not near yet. */
const STEPPED_ROWS: u32 = 64;

/**
 * Steps the rows of the slots `m`..`end` by the gradients their slots point to. Segment by segment over a few rows, not
 * row by row: the long chains of one optimizer, roots and divisions, then overlap between rows.
 */
function optimizeRows(table: usize, m: usize, end: usize): void {
  const states = <usize>load<u32>(table, 4) << 2;
  const segments = load<u32>(table, 16);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = table + 64 + (<usize>s << 7);
    const offset = <usize>load<u32>(segment, 4) << 2;
    const state = states + (<usize>load<u32>(segment, 8) << 2);
    for (let q = m; q < end; q += 4) {
      const slot = <usize>load<u32>(q);
      const row = <usize>(load<u32>(slot, 32) - ROW_SUMMING);
      stepSegment(segment, row + offset, row + state, <usize>load<u32>(slot, 48) + offset);
    }
  }
}

/**
 * Loads a word of every cache line that the update of the ids `order`..`end` needs, in a loop that does nothing else, so
 * that the misses overlap: slots, rows and gradients lie scattered. The result is of no use.
 */
function touchUpdates(order: usize, end: usize, slots: usize, rows: usize, rowBytes: usize, gradients: usize, stride: usize): i32 {
  let seen: i32 = 0;
  const rowLast = rowBytes - 4;
  const gradientLast = stride - 4;
  for (let q = order; q < end; q += 4) {
    const u = <usize>load<u32>(q);
    const row = <usize>load<u32>(rows + (u << 2));
    const gradient = gradients + u * stride;
    seen |= load<i32>(<usize>load<u32>(slots + (u << 2)), 32);
    for (let c: usize = 0; c < rowLast; c += 64) seen |= load<i32>(row + c);
    for (let c: usize = 0; c < gradientLast; c += 64) seen |= load<i32>(gradient + c);
    seen |= load<i32>(row + rowLast) | load<i32>(gradient + gradientLast);
  }
  return seen;
}

/**
 * Steps rows of one slice alone: ids are unique in a slice, so nothing is to be summed. The ids are order[first..end).
 */
function stepSlice(table: usize, slice: usize, order: usize, first: u32, end: u32, updateSec: u32): void {
  const rowBytes = <usize>load<u32>(table, 12);
  for (let k = first; k < end;) {
    const chunkEnd = min(k + STEPPED_ROWS, end);
    touchSlice(slice, order, k, chunkEnd, rowBytes);
    stepRows(table, slice, order, k, chunkEnd);
    const slots = <usize>load<u32>(slice, 24);
    for (; k < chunkEnd; k++) {
      const u = load<u32>(order + (<usize>k << 2));
      store<u32>(<usize>load<u32>(slots + (<usize>u << 2)), updateSec, 48);
    }
  }
}

/** As touchUpdates, for the rows of one slice. */
function touchSlice(slice: usize, order: usize, first: u32, end: u32, rowBytes: usize): i32 {
  const rows = <usize>load<u32>(slice, 12);
  const slots = <usize>load<u32>(slice, 24);
  const gradients = <usize>load<u32>(slice, 16);
  const stride = <usize>load<u32>(slice, 20) << 2;
  const rowLast = rowBytes - 4;
  let seen: i32 = 0;
  for (let k = first; k < end; k++) {
    const u = <usize>(load<u32>(order + (<usize>k << 2)));
    const row = <usize>load<u32>(rows + (u << 2));
    seen |= load<i32>(<usize>load<u32>(slots + (u << 2)), 32);
    for (let c: usize = 0; c < rowLast; c += 64) seen |= load<i32>(row + c);
    seen |= load<i32>(row + rowLast);
    const gradient = gradients + u * stride;
    for (let c: usize = 0; c < stride; c += 64) seen |= load<i32>(gradient + c);
  }
  return seen;
}

/** As optimizeRows, with rows and gradients as the slice has them. */
function stepRows(table: usize, slice: usize, order: usize, first: u32, end: u32): void {
  const states = <usize>load<u32>(table, 4) << 2;
  const segments = load<u32>(table, 16);
  const rows = <usize>load<u32>(slice, 12);
  const gradients = <usize>load<u32>(slice, 16);
  const stride = <usize>load<u32>(slice, 20) << 2;
  for (let s: u32 = 0; s < segments; s++) {
    const segment = table + 64 + (<usize>s << 7);
    const offset = <usize>load<u32>(segment, 4) << 2;
    const state = states + (<usize>load<u32>(segment, 8) << 2);
    for (let k = first; k < end; k++) {
      const u = <usize>(load<u32>(order + (<usize>k << 2)));
      const row = <usize>load<u32>(rows + (u << 2));
      stepSegment(segment, row + offset, row + state, gradients + u * stride + offset);
    }
  }
}

/** Gives absent ids of partition `p` a row. False when the heap is full; rows made so far stay, with their first values. */
function insertAbsent(table: usize, p: u32, slices: usize, sliceCount: u32): bool {
  const partition = <usize>load<u32>(table, 32) + (<usize>p << 6);
  const index = load<u32>(partition);
  for (let s: u32 = 0; s < sliceCount; s++) {
    const slice = slices + (<usize>s << 5);
    const ids = <usize>load<u32>(slice);
    const slots = <usize>load<u32>(slice, 24);
    const offsets = <usize>load<u32>(slice, 8) + (<usize>p << 2);
    const order = <usize>load<u32>(slice, 4);
    for (let k = load<u32>(offsets); k < load<u32>(offsets, 4); k++) {
      const u = <usize>load<u32>(order + (<usize>k << 2));
      if (load<u32>(slots + (u << 2)) != 0) continue;
      const slot = upsertSlot(table, load<i64>(ids + (u << 3)));
      if (slot == 0) return false;
      store<u32>(slots + (u << 2), <u32>slot);
      store<u32>(<usize>load<u32>(slice, 12) + (u << 2), load<u32>(slot, 32));
    }
  }
  // An index that grew has moved every slot.
  if (load<u32>(partition) != index) findAgain(table, p, slices, sliceCount);
  return true;
}

function findAgain(table: usize, p: u32, slices: usize, sliceCount: u32): void {
  for (let s: u32 = 0; s < sliceCount; s++) {
    const slice = slices + (<usize>s << 5);
    const ids = <usize>load<u32>(slice);
    const slots = <usize>load<u32>(slice, 24);
    const offsets = <usize>load<u32>(slice, 8) + (<usize>p << 2);
    const order = <usize>load<u32>(slice, 4);
    for (let k = load<u32>(offsets); k < load<u32>(offsets, 4); k++) {
      const u = <usize>load<u32>(order + (<usize>k << 2));
      store<u32>(slots + (u << 2), <u32>findSlot(table, load<i64>(ids + (u << 3))));
    }
  }
}

/** tableApply of one slice. */
function applySlice(table: usize, first: u32, end: u32, slice: usize, updateSec: u32): i32 {
  const offsets = <usize>load<u32>(slice, 8);
  const order = <usize>load<u32>(slice, 4);
  const from = load<u32>(offsets + (<usize>first << 2));
  const to = load<u32>(offsets + (<usize>end << 2));
  for (let p = first; p < end; p++) {
    if (!insertAbsent(table, p, slice, 1)) return -1;
  }
  stepSlice(table, slice, order, from, to, updateSec);
  return <i32>(to - from);
}

/**
 * Sums the gradients of each id over the slices, in slice order, and steps its row once. Handles the partitions
 * [first, end), whose owner the caller is. `slices` is an array of `sliceCount` records of 8 u32 words:
 * | unique ids | order | offsets | rows | gradients | gradient stride (floats) | slots | - |, order and offsets as
 * partitionByHash writes them, rows and slots as tableFind does. The first slice's gradient row is the accumulator; a slot
 * points to it for the length of this call. `merged` has room for the ids of one partition over all slices.
 * Returns the number of rows stepped, or -1 when the heap is full: the partition at hand is then as it was, but for new rows.
 */
export function tableApply(table: usize, first: u32, end: u32, slices: usize, sliceCount: u32, merged: usize, updateSec: u32): i32 {
  const dim = load<u32>(table, 4);
  const rowBytes = <usize>load<u32>(table, 12);
  if (sliceCount == 1) return applySlice(table, first, end, slices, updateSec);
  let stepped: i32 = 0;
  for (let p = first; p < end; p++) {
    if (!insertAbsent(table, p, slices, sliceCount)) return -1;
    let last = merged;
    for (let s: u32 = 0; s < sliceCount; s++) {
      const slice = slices + (<usize>s << 5);
      const offsets = <usize>load<u32>(slice, 8) + (<usize>p << 2);
      const rows = <usize>load<u32>(slice, 12);
      const gradients = <usize>load<u32>(slice, 16);
      const stride = <usize>load<u32>(slice, 20) << 2;
      const slots = <usize>load<u32>(slice, 24);
      let order = <usize>load<u32>(slice, 4) + (<usize>load<u32>(offsets) << 2);
      const orderEnd = <usize>load<u32>(slice, 4) + (<usize>load<u32>(offsets, 4) << 2);
      let touched = order;
      for (; order < orderEnd; order += 4) {
        if (order == touched) {
          touched = min(order + (CHUNK << 2), orderEnd);
          touchUpdates(order, touched, slots, rows, rowBytes, gradients, stride);
        }
        const u = <usize>load<u32>(order);
        const slot = <usize>load<u32>(slots + (u << 2));
        const gradient = gradients + u * stride;
        const row = load<u32>(slot, 32);
        if ((row & ROW_SUMMING) == 0) {
          store<u32>(slot, row + ROW_SUMMING, 32);
          store<u32>(slot, <u32>gradient, 48);
          store<u32>(last, <u32>slot);
          last += 4;
        } else addRowF32(gradient, <usize>load<u32>(slot, 48), dim);
      }
    }
    for (let m = merged; m < last;) {
      const chunkEnd = min(m + (OPTIMIZED_ROWS << 2), last);
      optimizeRows(table, m, chunkEnd);
      for (; m < chunkEnd; m += 4) {
        const slot = <usize>load<u32>(m);
        store<u32>(slot, load<u32>(slot, 32) - ROW_SUMMING, 32);
        store<u32>(slot, updateSec, 48);
      }
    }
    stepped += <i32>((last - merged) >> 2);
  }
  return stepped;
}
