// The update of a table: gradients of all slices summed per id, each row stepped once.
import { WORD } from "../units";
import {
  APPLY_SLICE, APPLY_SLICE_BYTES, PARTITION, ROW_SUMMING, SLOT, TABLE, TIME_UNKNOWN, UPDATE_RESULT,
} from "../generated/layouts";
import { addRowF32 } from "../sparse";
import { evictWhenFull, overflowSlot, sinkSlot } from "./full";
import { findSlot, partitionOf } from "./index";
import { ListedPlace, ListedSlot } from "./listing";
import { upsertSlot } from "./rows";
import { latestUpdate, raiseUpdateTime, refusesStep, stepList } from "./step";

const CHUNK: usize = 256;
/** Rows that are stepped together: with their gradients they stay in the nearest cache. */
const STEPPED_ROWS: u32 = 64;

/**
 * Loads a word of every cache line that the update of the ids `order`..`end` needs, in a loop that does nothing else,
 * so that the misses overlap: slots, rows and gradients lie scattered. The result is of no use.
 */
function touchUpdates(
  order: usize, end: usize, slots: usize, rows: usize, rowBytes: usize, gradients: usize, stride: usize,
): i32 {
  let seen: i32 = 0;
  const rowLast = rowBytes - 4;
  const gradientLast = stride - 4;
  for (let q = order; q < end; q += 4) {
    const u = <usize>load<u32>(q);
    const row = <usize>load<u32>(rows + (u << 2));
    const gradient = gradients + u * stride;
    seen |= load<i32>(<usize>load<u32>(slots + (u << 2)), SLOT.row);
    for (let c: usize = 0; c < rowLast; c += 64) seen |= load<i32>(row + c);
    for (let c: usize = 0; c < gradientLast; c += 64) seen |= load<i32>(gradient + c);
    seen |= load<i32>(row + rowLast) | load<i32>(gradient + gradientLast);
  }
  return seen;
}

/**
 * Steps rows of one slice alone: ids are unique in a slice, so nothing is to be summed. The ids are order[first..end).
 * False when the table fails on a bad gradient.
 */
function stepSlice(table: usize, slice: usize, order: usize, first: u32, end: u32, updateSec: u32): bool {
  const rowBytes = <usize>load<u32>(table, TABLE.rowBytes);
  const ids = <usize>load<u32>(slice, APPLY_SLICE.ids);
  const rows = <usize>load<u32>(slice, APPLY_SLICE.rows);
  const gradients = <usize>load<u32>(slice, APPLY_SLICE.gradients);
  const strideBytes = <usize>load<u32>(slice, APPLY_SLICE.stride) << 2;
  const slots = <usize>load<u32>(slice, APPLY_SLICE.slots);
  let good = true;
  for (let k = first; k < end;) {
    const chunkEnd = min(k + STEPPED_ROWS, end);
    touchSlice(slice, order, k, chunkEnd, rowBytes);
    const list = order + (<usize>k << 2);
    const listEnd = order + (<usize>chunkEnd << 2);
    good = good && stepList<ListedPlace>(table, list, listEnd, ids, rows, gradients, strideBytes);
    for (; k < chunkEnd; k++) {
      const u = load<u32>(order + (<usize>k << 2));
      store<u32>(<usize>load<u32>(slots + (<usize>u << 2)), updateSec, SLOT.time);
    }
  }
  return good;
}

/** As touchUpdates, for the rows of one slice. */
function touchSlice(slice: usize, order: usize, first: u32, end: u32, rowBytes: usize): i32 {
  const rows = <usize>load<u32>(slice, APPLY_SLICE.rows);
  const slots = <usize>load<u32>(slice, APPLY_SLICE.slots);
  const gradients = <usize>load<u32>(slice, APPLY_SLICE.gradients);
  const stride = <usize>load<u32>(slice, APPLY_SLICE.stride) << 2;
  const rowLast = rowBytes - 4;
  let seen: i32 = 0;
  for (let k = first; k < end; k++) {
    const u = <usize>(load<u32>(order + (<usize>k << 2)));
    const row = <usize>load<u32>(rows + (u << 2));
    seen |= load<i32>(<usize>load<u32>(slots + (u << 2)), SLOT.row);
    for (let c: usize = 0; c < rowLast; c += 64) seen |= load<i32>(row + c);
    seen |= load<i32>(row + rowLast);
    const gradient = gradients + u * stride;
    for (let c: usize = 0; c < stride; c += 64) seen |= load<i32>(gradient + c);
  }
  return seen;
}

/**
 * Gives absent ids of partition `p` a row; where the heap is full, after removing what is expired, or the one row of
 * those that are passed over. False when the table does neither; rows made so far stay, with their first values.
 */
function insertAbsent(table: usize, p: u32, slices: usize, sliceCount: u32, updateSec: u32): bool {
  const partition = partitionOf(table, p);
  const index = load<u64>(partition, PARTITION.index);
  let whole = insertIds(table, p, slices, sliceCount);
  if (!whole) {
    // What is about to be updated is not expired, unless its time is old or its slot lives no day: such rows are made
    // anew.
    findAgain(table, p, slices, sliceCount, 0);
    stampFound(p, slices, sliceCount, updateSec);
    if (evictWhenFull(table, p)) {
      findAgain(table, p, slices, sliceCount, 0);
      whole = insertIds(table, p, slices, sliceCount);
    }
  }
  if (!whole) {
    const overflow = overflowSlot(table, p);
    if (overflow == 0) return false;
    const passedOver = findAgain(table, p, slices, sliceCount, overflow);
    store<u32>(partition, load<u32>(partition, PARTITION.passedOver) + passedOver, PARTITION.passedOver);
  } else if (load<u64>(partition, PARTITION.index) != index) {
    // An index that grew has moved every slot. Its mask is compared too: it may be back where it was, with buckets by
    // the secret.
    findAgain(table, p, slices, sliceCount, 0);
  }
  return true;
}

/** Stamps the slots of partition `p` that are known. */
function stampFound(p: u32, slices: usize, sliceCount: u32, updateSec: u32): void {
  for (let s: u32 = 0; s < sliceCount; s++) {
    const slice = slices + <usize>s * APPLY_SLICE_BYTES;
    const slots = <usize>load<u32>(slice, APPLY_SLICE.slots);
    const offsets = <usize>load<u32>(slice, APPLY_SLICE.offsets) + (<usize>p << 2);
    const order = <usize>load<u32>(slice, APPLY_SLICE.order);
    for (let k = load<u32>(offsets); k < load<u32>(offsets, WORD); k++) {
      const slot = <usize>load<u32>(slots + (<usize>load<u32>(order + (<usize>k << 2)) << 2));
      if (slot != 0) store<u32>(slot, updateSec, SLOT.time);
    }
  }
}

/** Inserts the ids of partition `p` that have no slot; false as soon as the heap is full. */
function insertIds(table: usize, p: u32, slices: usize, sliceCount: u32): bool {
  for (let s: u32 = 0; s < sliceCount; s++) {
    const slice = slices + <usize>s * APPLY_SLICE_BYTES;
    const ids = <usize>load<u32>(slice, APPLY_SLICE.ids);
    const slots = <usize>load<u32>(slice, APPLY_SLICE.slots);
    const offsets = <usize>load<u32>(slice, APPLY_SLICE.offsets) + (<usize>p << 2);
    const order = <usize>load<u32>(slice, APPLY_SLICE.order);
    for (let k = load<u32>(offsets); k < load<u32>(offsets, WORD); k++) {
      const u = <usize>load<u32>(order + (<usize>k << 2));
      if (load<u32>(slots + (u << 2)) != 0) continue;
      const slot = upsertSlot(table, load<i64>(ids + (u << 3)));
      if (slot == 0) return false;
      store<u32>(slots + (u << 2), <u32>slot);
      store<u32>(<usize>load<u32>(slice, APPLY_SLICE.rows) + (u << 2), load<u32>(slot, SLOT.row));
    }
  }
  return true;
}

/**
 * Finds slots and rows of partition `p` once more; those without get `absent`, but for those that a filter keeps out,
 * which stay at the sink. Returns how many have none and are not kept out.
 */
function findAgain(table: usize, p: u32, slices: usize, sliceCount: u32, absent: usize): u32 {
  let missing: u32 = 0;
  const sink = sinkSlot(table, p);
  for (let s: u32 = 0; s < sliceCount; s++) {
    const slice = slices + <usize>s * APPLY_SLICE_BYTES;
    const ids = <usize>load<u32>(slice, APPLY_SLICE.ids);
    const rows = <usize>load<u32>(slice, APPLY_SLICE.rows);
    const slots = <usize>load<u32>(slice, APPLY_SLICE.slots);
    const offsets = <usize>load<u32>(slice, APPLY_SLICE.offsets) + (<usize>p << 2);
    const order = <usize>load<u32>(slice, APPLY_SLICE.order);
    for (let k = load<u32>(offsets); k < load<u32>(offsets, WORD); k++) {
      const u = <usize>load<u32>(order + (<usize>k << 2));
      let slot = findSlot(table, load<i64>(ids + (u << 3)));
      if (slot == 0) {
        const keptOut = sink != 0 && load<u32>(slots + (u << 2)) == <u32>sink;
        slot = keptOut ? sink : absent;
        missing += <u32>!keptOut;
      }
      store<u32>(slots + (u << 2), <u32>slot);
      // A slot of zero reads the null page.
      store<u32>(rows + (u << 2), load<u32>(slot, SLOT.row));
    }
  }
  return missing;
}

/** tableApply of one slice. */
function applySlice(table: usize, first: u32, end: u32, slice: usize, updateSec: u32): i32 {
  const offsets = <usize>load<u32>(slice, APPLY_SLICE.offsets);
  const order = <usize>load<u32>(slice, APPLY_SLICE.order);
  const from = load<u32>(offsets + (<usize>first << 2));
  const to = load<u32>(offsets + (<usize>end << 2));
  for (let p = first; p < end; p++) {
    if (!insertAbsent(table, p, slice, 1, updateSec)) return UPDATE_RESULT.heapFull;
  }
  return stepSlice(table, slice, order, from, to, updateSec) ? <i32>(to - from) : UPDATE_RESULT.badGradient;
}

/** Steps the rows of the slots merged..last and ends their sums. False when the table fails on a bad gradient. */
function stepMerged(table: usize, merged: usize, last: usize, updateSec: u32): bool {
  let good = true;
  for (let m = merged; m < last;) {
    const chunkEnd = min(m + (<usize>STEPPED_ROWS << 2), last);
    good = good && stepList<ListedSlot>(table, m, chunkEnd, 0, 0, 0, 0);
    for (; m < chunkEnd; m += 4) {
      const slot = <usize>load<u32>(m);
      store<u32>(slot, load<u32>(slot, SLOT.row) - ROW_SUMMING, SLOT.row);
      store<u32>(slot, updateSec, SLOT.time);
    }
  }
  return good;
}

/**
 * Sums the gradients of each id over the slices, in slice order, and steps its row once. Handles the partitions
 * [first, end), whose owner the caller is. `slices` is an array of `sliceCount` APPLY_SLICE records, order and
 * offsets as partitionByHash writes them, rows and slots as tableFind does. The first slice's gradient row is the
 * accumulator; a slot points to it for the length of this call. `merged` has room for the ids of one partition over all
 * slices. A row whose sum is NaN or infinite keeps its values. Returns the number of rows, those with a bad sum among
 * them; -1 when the heap is full: the partition at hand is then as it was, but for new rows; -2 when the table fails on
 * a bad sum: the rows before it are stepped, later ones may have the new time; -3 when an optimizer refuses the global
 * step: nothing is done.
 */
export function tableApply(
  table: usize, first: u32, end: u32, slices: usize, sliceCount: u32, merged: usize, timeSec: u32,
): i32 {
  if (refusesStep(table)) return UPDATE_RESULT.refused;
  // Rows of a batch without times are as of the latest update there was, so that they are not older than all others.
  const updateSec = timeSec == TIME_UNKNOWN ? latestUpdate(table) : timeSec;
  raiseUpdateTime(table, updateSec);
  const dim = load<u32>(table, TABLE.dim);
  const rowBytes = <usize>load<u32>(table, TABLE.rowBytes);
  if (sliceCount == 1) return applySlice(table, first, end, slices, updateSec);
  let stepped: i32 = 0;
  for (let p = first; p < end; p++) {
    if (!insertAbsent(table, p, slices, sliceCount, updateSec)) return UPDATE_RESULT.heapFull;
    let last = merged;
    for (let s: u32 = 0; s < sliceCount; s++) {
      const slice = slices + <usize>s * APPLY_SLICE_BYTES;
      const offsets = <usize>load<u32>(slice, APPLY_SLICE.offsets) + (<usize>p << 2);
      const rows = <usize>load<u32>(slice, APPLY_SLICE.rows);
      const gradients = <usize>load<u32>(slice, APPLY_SLICE.gradients);
      const stride = <usize>load<u32>(slice, APPLY_SLICE.stride) << 2;
      const slots = <usize>load<u32>(slice, APPLY_SLICE.slots);
      let order = <usize>load<u32>(slice, APPLY_SLICE.order) + (<usize>load<u32>(offsets) << 2);
      const orderEnd = <usize>load<u32>(slice, APPLY_SLICE.order) + (<usize>load<u32>(offsets, WORD) << 2);
      let touched = order;
      for (; order < orderEnd; order += 4) {
        if (order == touched) {
          touched = min(order + (CHUNK << 2), orderEnd);
          touchUpdates(order, touched, slots, rows, rowBytes, gradients, stride);
        }
        const u = <usize>load<u32>(order);
        const slot = <usize>load<u32>(slots + (u << 2));
        const gradient = gradients + u * stride;
        const row = load<u32>(slot, SLOT.row);
        if ((row & ROW_SUMMING) == 0) {
          store<u32>(slot, row + ROW_SUMMING, SLOT.row);
          store<u32>(slot, <u32>gradient, SLOT.time);
          store<u32>(last, <u32>slot);
          last += 4;
        } else addRowF32(gradient, <usize>load<u32>(slot, SLOT.time), dim);
      }
    }
    if (!stepMerged(table, merged, last, updateSec)) return UPDATE_RESULT.badGradient;
    stepped += <i32>((last - merged) >> 2);
  }
  return stepped;
}
