// The update of a table: gradients of all slices summed per id, each row stepped once.
import { applyAdagradF32, applyFtrlF32, applySgdF32 } from "../dense";
import { addRowF32 } from "../sparse";
import { findSlot, ROW_SUMMING } from "./index";
import { upsertSlot } from "./rows";

const CHUNK: usize = 256;
/** Rows that are stepped together: with their gradients they stay in the nearest cache. */
const OPTIMIZED_ROWS: usize = 64;

const OPT_SGD: u32 = 0;
const OPT_ADAGRAD: u32 = 1;

/**
 * Steps the rows of the slots `m`..`end` by the gradients their slots point to. Segment by segment over a few rows, not
 * row by row: the long chains of one optimizer, roots and divisions, then overlap between rows.
 */
function optimizeRows(table: usize, m: usize, end: usize): void {
  const states = <usize>load<u32>(table, 4) << 2;
  const segments = load<u32>(table, 16);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = table + 64 + (<usize>s << 6);
    const dim = load<u32>(segment);
    const offset = <usize>load<u32>(segment, 4) << 2;
    const state = states + (<usize>load<u32>(segment, 8) << 2);
    const lr = load<f32>(segment, 28);
    const optimizer = load<u32>(segment, 24);
    const a = load<f32>(segment, 36), b = load<f32>(segment, 40), c = load<f32>(segment, 44);
    for (let q = m; q < end; q += 4) {
      const slot = <usize>load<u32>(q);
      const row = <usize>(load<u32>(slot, 32) - ROW_SUMMING);
      const gradient = <usize>load<u32>(slot, 48) + offset;
      if (optimizer == OPT_SGD) applySgdF32(row + offset, gradient, dim, lr);
      else if (optimizer == OPT_ADAGRAD) applyAdagradF32(row + offset, row + state, gradient, dim, lr, a);
      else {
        const first = row + state;
        applyFtrlF32(row + offset, first, first + (<usize>dim << 2), gradient, dim, lr, a, b, c);
      }
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
