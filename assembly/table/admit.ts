// Who gets into a table by a step: ids that the admission filter keeps out share the row of their partition that nobody
// reads (full.ts); and who got a step, for the set of touched pairs.
import { KEPT_OUT } from "../generated/layouts";
import { mix64 } from "../hash";
import { insertTouchedPairs } from "../touched";
import { isSink, sinkSlot } from "./full";

/** Bytes of the scratch memory of insertTouchedPairs. */
const TOUCHED_SCRATCH: usize = 1088;
const LOST_LOCK: i32 = -4;

/**
 * Sends the ids of the partitions [first, end) that filterAsk keeps out to the sink, before tableApply of the same slices.
 * Word 7 of a slice record points to its counts. Returns how many stay out.
 */
export function tableAdmit(table: usize, first: u32, end: u32, slices: usize, sliceCount: u32): u32 {
  let kept: u32 = 0;
  for (let p = first; p < end; p++) {
    const sink = sinkSlot(table, p);
    for (let s: u32 = 0; s < sliceCount; s++) {
      const slice = slices + (<usize>s << 5);
      const slots = <usize>load<u32>(slice, 24);
      const counts = <usize>load<u32>(slice, 28);
      const offsets = <usize>load<u32>(slice, 8) + (<usize>p << 2);
      const order = <usize>load<u32>(slice, 4);
      for (let k = load<u32>(offsets); k < load<u32>(offsets, 4); k++) {
        const u = <usize>load<u32>(order + (<usize>k << 2));
        if ((load<u32>(counts + (u << 2)) & KEPT_OUT) == 0) continue;
        store<u32>(slots + (u << 2), <u32>sink);
        store<u32>(<usize>load<u32>(slice, 12) + (u << 2), load<u32>(sink, 32));
        kept++;
      }
    }
  }
  return kept;
}

/** Points rows[i] and slots[i] at the sink of the partition of ids[i] where counts[i] says that it is kept out. */
export function tablePassOver(table: usize, ids: usize, n: u32, counts: usize, rows: usize, slots: usize): void {
  const shift = 64 - load<u32>(table);
  for (let i: u32 = 0; i < n; i++) {
    const at = <usize>i << 2;
    if ((load<u32>(counts + at) & KEPT_OUT) == 0) continue;
    const sink = sinkSlot(table, <u32>(mix64(load<u64>(ids + (at << 1))) >> shift));
    store<u32>(slots + at, <u32>sink);
    store<u32>(rows + at, load<u32>(sink, 32));
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
 * `buffer` has 1088 bytes of scratch and then room for the ids of a slice. Returns how many there were, ids of several
 * slices as often as they came, or -4 when a lock is lost.
 */
export function tableTouch(
  table: usize, first: u32, end: u32, slices: usize, sliceCount: u32, set: usize, tableIndex: u32, buffer: usize,
): i32 {
  let touched: u32 = 0;
  for (let s: u32 = 0; s < sliceCount; s++) {
    const slice = slices + (<usize>s << 5);
    const ids = <usize>load<u32>(slice);
    const slots = <usize>load<u32>(slice, 24);
    const offsets = <usize>load<u32>(slice, 8);
    const order = <usize>load<u32>(slice, 4);
    const last = load<u32>(offsets + (<usize>end << 2));
    let at = buffer + TOUCHED_SCRATCH;
    for (let k = load<u32>(offsets + (<usize>first << 2)); k < last; k++) {
      const u = <usize>load<u32>(order + (<usize>k << 2));
      if (isSink(table, <usize>load<u32>(slots + (u << 2)))) continue;
      store<i64>(at, load<i64>(ids + (u << 3)));
      at += 8;
    }
    const count = <u32>((at - buffer - TOUCHED_SCRATCH) >> 3);
    if (insertTouchedPairs(set, buffer + TOUCHED_SCRATCH, count, tableIndex, buffer) < 0) return LOST_LOCK;
    touched += count;
  }
  return <i32>touched;
}
