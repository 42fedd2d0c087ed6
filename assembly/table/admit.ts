// Who gets into a table by a step: ids that the admission filter keeps out share the row of their partition that nobody
// reads (full.ts); and who got a step, for the set of touched pairs.
import { WORD } from "../units";
import {
  APPLY_SLICE, APPLY_SLICE_BYTES, KEPT_OUT, SLOT, TABLE, TOUCHED_SCRATCH_BYTES, UPDATE_RESULT,
} from "../generated/layouts";
import { mix64 } from "../hash";
import { insertTouchedPairs } from "../touched";
import { isSink, sinkSlot } from "./full";

/**
 * Sends the ids of the partitions [first, end) that filterAsk keeps out to the sink, before tableApply of the same
 * slices. Word 7 of a slice record points to its counts. Returns how many stay out.
 */
export function tableAdmit(table: usize, first: u32, end: u32, slices: usize, sliceCount: u32): u32 {
  let kept: u32 = 0;
  for (let p = first; p < end; p++) {
    const sink = sinkSlot(table, p);
    for (let s: u32 = 0; s < sliceCount; s++) {
      const slice = slices + <usize>s * APPLY_SLICE_BYTES;
      const slots = <usize>load<u32>(slice, APPLY_SLICE.slots);
      const counts = <usize>load<u32>(slice, APPLY_SLICE.counts);
      const offsets = <usize>load<u32>(slice, APPLY_SLICE.offsets) + (<usize>p << 2);
      const order = <usize>load<u32>(slice, APPLY_SLICE.order);
      for (let k = load<u32>(offsets); k < load<u32>(offsets, WORD); k++) {
        const u = <usize>load<u32>(order + (<usize>k << 2));
        if ((load<u32>(counts + (u << 2)) & KEPT_OUT) == 0) continue;
        store<u32>(slots + (u << 2), <u32>sink);
        store<u32>(<usize>load<u32>(slice, APPLY_SLICE.rows) + (u << 2), load<u32>(sink, SLOT.row));
        kept++;
      }
    }
  }
  return kept;
}

/** Points rows[i] and slots[i] at the sink of the partition of ids[i] where counts[i] says that it is kept out. */
export function tablePassOver(table: usize, ids: usize, n: u32, counts: usize, rows: usize, slots: usize): void {
  const shift = 64 - load<u32>(table, TABLE.partitionsLog2);
  for (let i: u32 = 0; i < n; i++) {
    const at = <usize>i << 2;
    if ((load<u32>(counts + at) & KEPT_OUT) == 0) continue;
    const sink = sinkSlot(table, <u32>(mix64(load<u64>(ids + (at << 1))) >> shift));
    store<u32>(slots + at, <u32>sink);
    store<u32>(rows + at, load<u32>(sink, SLOT.row));
  }
}

/** out = those of ids[0..n) whose slot is of a row of their own; returns how many. */
export function tableStepped(table: usize, ids: usize, n: u32, slots: usize, out: usize): u32 {
  let at = out;
  for (let i: u32 = 0; i < n; i++) {
    if (isSink(table, <usize>load<u32>(slots + (<usize>i << 2)))) continue;
    store<i64>(at, load<i64>(ids + (<usize>i << 3)));
    at += 8;
  }
  return <u32>((at - out) >> 3);
}

/**
 * Records the ids of the partitions [first, end) that tableApply of these slices stepped in a set of touched pairs.
 * `buffer` has TOUCHED_SCRATCH_BYTES of scratch and then room for the ids of a slice. Returns how many there were, ids
 * of several slices as often as they came, or -4 when a lock is lost.
 */
export function tableTouch(
  table: usize, first: u32, end: u32, slices: usize, sliceCount: u32, set: usize, tableIndex: u32, buffer: usize,
): i32 {
  let touched: u32 = 0;
  for (let s: u32 = 0; s < sliceCount; s++) {
    const slice = slices + <usize>s * APPLY_SLICE_BYTES;
    const ids = <usize>load<u32>(slice, APPLY_SLICE.ids);
    const slots = <usize>load<u32>(slice, APPLY_SLICE.slots);
    const offsets = <usize>load<u32>(slice, APPLY_SLICE.offsets);
    const order = <usize>load<u32>(slice, APPLY_SLICE.order);
    const last = load<u32>(offsets + (<usize>end << 2));
    let at = buffer + TOUCHED_SCRATCH_BYTES;
    for (let k = load<u32>(offsets + (<usize>first << 2)); k < last; k++) {
      const u = <usize>load<u32>(order + (<usize>k << 2));
      if (isSink(table, <usize>load<u32>(slots + (u << 2)))) continue;
      store<i64>(at, load<i64>(ids + (u << 3)));
      at += 8;
    }
    const count = <u32>((at - buffer - TOUCHED_SCRATCH_BYTES) >> 3);
    if (insertTouchedPairs(set, buffer + TOUCHED_SCRATCH_BYTES, count, tableIndex, buffer) < 0) {
      return UPDATE_RESULT.lostLock;
    }
    touched += count;
  }
  return <i32>touched;
}
