// Lookup and update in one go, for callers that have unique ids and their gradients and nothing else.
import { LOOKUP_CHUNK, SLOT, TABLE, UPDATE_RESULT } from "../generated/layouts";
import { slotFrom, touchBuckets, touchLines } from "./find";
import { ListedRow } from "./listing";
import { upsertSlot } from "./rows";
import { raiseUpdateTime, refusesStep, stepList } from "./step";

/** rows[i] = row of ids[i], stamped with the time; returns how many were absent. */
function findAndStamp(table: usize, ids: usize, n: u32, rows: usize, updateSec: u32): u32 {
  let absent: u32 = 0;
  touchBuckets(table, ids, n, rows);
  const end = rows + (<usize>n << 2);
  for (let at = rows; at < end; at += 4) {
    const slot = slotFrom(table, <usize>load<u32>(at), load<i64>(ids));
    if (slot != 0) store<u32>(slot, updateSec, SLOT.time);
    else absent++;
    // Absent ids read the null page here; their rows are found in another walk.
    store<u32>(at, load<u32>(slot, SLOT.row));
    ids += 8;
  }
  return absent;
}

/** Gives the absent ids of a chunk rows. False when the heap is full. */
function insertAbsent(table: usize, ids: usize, n: u32, rows: usize): bool {
  for (let i: u32 = 0; i < n; i++) {
    if (load<u32>(rows + (<usize>i << 2)) != 0) continue;
    if (upsertSlot(table, load<i64>(ids + (<usize>i << 3))) == 0) return false;
  }
  return true;
}

/** Rows that are stepped together: with their gradients they stay in the nearest cache. */
const STEPPED_ROWS: u32 = 64;

/** Steps the rows of a chunk, their gradients being in the same order. False when the table fails on a bad gradient. */
function stepRows(table: usize, ids: usize, rows: usize, n: u32, gradients: usize, strideBytes: usize): bool {
  for (let i: u32 = 0; i < n; i += STEPPED_ROWS) {
    const first = rows + (<usize>i << 2);
    const end = rows + (<usize>min(i + STEPPED_ROWS, n) << 2);
    const chunkIds = ids + (<usize>i << 3);
    if (!stepList<ListedRow>(table, first, end, chunkIds, 0, gradients + <usize>i * strideBytes, strideBytes)) {
      return false;
    }
  }
  return true;
}

/**
 * Steps the row of each of ids[0..n) by its gradient; absent ids get a row first. The ids are unique, and the caller
 * owns their partitions. `stride` is that of the gradients, in floats; `scratch` has room for a chunk of addresses. A
 * row with a bad gradient is passed over. Returns how many ids were handled: fewer than n = the heap is full, and the
 * rows of the others are as they were; -2 when the table fails on a bad gradient, -3 when an optimizer refuses the
 * global step.
 */
export function tableUpdate(
  table: usize, ids: usize, n: u32, gradients: usize, stride: u32, scratch: usize, updateSec: u32,
): i32 {
  if (refusesStep(table)) return UPDATE_RESULT.refused;
  raiseUpdateTime(table, updateSec);
  const strideBytes = <usize>stride << 2;
  const rowBytes = <usize>load<u32>(table, TABLE.rowBytes);
  for (let s: u32 = 0; s < n; s += LOOKUP_CHUNK) {
    const m = min(LOOKUP_CHUNK, n - s);
    const chunkIds = ids + (<usize>s << 3);
    if (findAndStamp(table, chunkIds, m, scratch, updateSec) != 0) {
      if (!insertAbsent(table, chunkIds, m, scratch)) return <i32>s;
      findAndStamp(table, chunkIds, m, scratch, updateSec);
    }
    touchLines(scratch, m, rowBytes, (rowBytes & 63) == 0);
    if (!stepRows(table, chunkIds, scratch, m, gradients + <usize>s * strideBytes, strideBytes)) {
      return UPDATE_RESULT.badGradient;
    }
  }
  return <i32>n;
}
