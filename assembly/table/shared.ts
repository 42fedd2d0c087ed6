// Kernels that any thread may call at any time. Each id takes the lock of its partition for its own turn, ids go in
// their order, and one that comes twice is handled twice.
import { LINE } from "../units";
import { PARTITION, SEGMENT, SLOT, TABLE, UPDATE_RESULT } from "../generated/layouts";
import { mix64 } from "../hash";
import { addRowF32 } from "../sparse";
import { copyFloats } from "../sparse/rows";
import { lock, unlock } from "../sync";
import { removeSlot } from "./evict";
import { isFiniteRow } from "./finite";
import { bucketOf, partitionAt, segmentAt, slotOf } from "./index";
import { bringNear, shownBytes } from "./near";
import { decodeFloats, encodedBytes, encodeFloats, isServing, showRow } from "./retriever";
import { insertSlot, tableInitRow } from "./rows";
import { passesBadGradient, raiseUpdateTime, refusesStep, stepRow } from "./step";

/** out[i, :] = what a lookup of ids[i] shows, zeros for an absent one. Returns how many were found. */
export function tableLookup(table: usize, ids: usize, n: u32, out: usize, outStride: u32): u32 {
  const bytes = <usize>load<u32>(table, TABLE.dim) << 2;
  const near = shownBytes(table);
  let found: u32 = 0;
  for (let i: u32 = 0; i < n; i++, ids += 8, out += <usize>outStride << 2) {
    bringNear(table, ids, i, n, near);
    const id = load<i64>(ids);
    const hash = mix64(<u64>id);
    const partition = partitionAt(table, hash);
    lock(partition + PARTITION.lock);
    const slot = slotOf(partition, bucketOf(partition, hash), id);
    if (slot != 0) showRow(table, <usize>load<u32>(slot, SLOT.row), out);
    unlock(partition + PARTITION.lock);
    found += <u32>(slot != 0);
    if (slot == 0) memory.fill(out, 0, bytes);
  }
  return found;
}

/** out[i] = 1 where ids[i] has a row, else 0, as bytes. Returns how many have one. */
export function tableContains(table: usize, ids: usize, n: u32, out: usize): u32 {
  let found: u32 = 0;
  for (let i: u32 = 0; i < n; i++, ids += 8, out++) {
    bringNear(table, ids, i, n, 0);
    const id = load<i64>(ids);
    const hash = mix64(<u64>id);
    const partition = partitionAt(table, hash);
    lock(partition + PARTITION.lock);
    const there = <u32>(slotOf(partition, bucketOf(partition, hash), id) != 0);
    unlock(partition + PARTITION.lock);
    store<u8>(out, <u8>there);
    found += there;
  }
  return found;
}

/** Removes the rows of ids[0..n). Returns how many there were. */
export function tableRemove(table: usize, ids: usize, n: u32): u32 {
  let removed: u32 = 0;
  for (let i: u32 = 0; i < n; i++, ids += 8) {
    bringNear(table, ids, i, n, LINE);
    const id = load<i64>(ids);
    const hash = mix64(<u64>id);
    const partition = partitionAt(table, hash);
    lock(partition + PARTITION.lock);
    const slot = slotOf(partition, bucketOf(partition, hash), id);
    if (slot != 0) removeSlot(partition, slot);
    unlock(partition + PARTITION.lock);
    removed += <u32>(slot != 0);
  }
  return removed;
}

/** Adds values to the encoded floats of a segment, four at a time: decoded, they are in the partition's scratch. */
function addEncoded(segment: usize, values: usize, body: usize, scratch: usize): void {
  const step = encodedBytes(segment) << 2;
  let left = load<i32>(segment, SEGMENT.dim);
  for (; left > 0; left -= 4, values += 16, body += step) {
    const n = min(left, 4);
    decodeFloats(segment, body, scratch, n);
    addRowF32(values, scratch, n);
    encodeFloats(segment, scratch, body, n);
  }
}

/** Puts values into a row, over what is there or on top of it. */
function writeRow(table: usize, row: usize, values: usize, scratch: usize, add: bool): void {
  const dim = load<u32>(table, TABLE.dim);
  if (!isServing(table)) {
    if (add) addRowF32(values, row, dim);
    else copyFloats(values, row, <usize>dim << 2);
    return;
  }
  const segments = load<u32>(table, TABLE.segments);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = segmentAt(table, s);
    const from = values + (<usize>load<u32>(segment, SEGMENT.weightOffset) << 2);
    const body = row + <usize>load<u32>(segment, SEGMENT.bodyOffset);
    if (add) addEncoded(segment, from, body, scratch);
    else encodeFloats(segment, from, body, load<i32>(segment, SEGMENT.dim));
  }
}

/**
 * Weights of ids[i] = values[i, :], or with `add` the present ones plus these; optimizer state stays. An absent id gets
 * a row first, unless `admitted` has a 0 byte for it; `admitted` 0 admits all. Returns how many ids were handled: fewer
 * than n = the heap is full.
 */
export function tableAssign(
  table: usize, ids: usize, n: u32, values: usize, stride: u32, timeSec: u32, admitted: usize, add: i32,
): u32 {
  raiseUpdateTime(table, timeSec);
  const near = shownBytes(table);
  for (let i: u32 = 0; i < n; i++, ids += 8, values += <usize>stride << 2) {
    bringNear(table, ids, i, n, near);
    const id = load<i64>(ids);
    const hash = mix64(<u64>id);
    const partition = partitionAt(table, hash);
    lock(partition + PARTITION.lock);
    let slot = slotOf(partition, bucketOf(partition, hash), id);
    const passed = slot == 0 && admitted != 0 && load<u8>(admitted + <usize>i) == 0;
    if (slot == 0 && !passed) slot = insertSlot(table, partition, hash, id);
    if (slot != 0) {
      store<u32>(slot, timeSec, SLOT.time);
      writeRow(table, <usize>load<u32>(slot, SLOT.row), values, partition + PARTITION.scratch, add != 0);
    }
    unlock(partition + PARTITION.lock);
    if (slot == 0 && !passed) return i;
  }
  return n;
}

/**
 * One optimizer step per position, absent ids as with tableAssign. The gradients are scratch. A bad gradient is passed
 * over and makes no row. Returns how many ids were handled, fewer than n = the heap is full; -2 when the table fails on
 * a bad gradient, the ids before it being done; -3 when an optimizer refuses the global step, nothing being done.
 */
export function tableOptimize(
  table: usize, ids: usize, n: u32, gradients: usize, stride: u32, timeSec: u32, admitted: usize,
): i32 {
  if (refusesStep(table)) return UPDATE_RESULT.refused;
  raiseUpdateTime(table, timeSec);
  const rowBytes = <usize>load<u32>(table, TABLE.rowBytes);
  const dim = load<u32>(table, TABLE.dim);
  for (let i: u32 = 0; i < n; i++, ids += 8, gradients += <usize>stride << 2) {
    bringNear(table, ids, i, n, rowBytes);
    if (!isFiniteRow(gradients, dim)) {
      if (!passesBadGradient(table)) return UPDATE_RESULT.badGradient;
      continue;
    }
    const id = load<i64>(ids);
    const hash = mix64(<u64>id);
    const partition = partitionAt(table, hash);
    lock(partition + PARTITION.lock);
    let slot = slotOf(partition, bucketOf(partition, hash), id);
    const passed = slot == 0 && admitted != 0 && load<u8>(admitted + <usize>i) == 0;
    if (slot == 0 && !passed) slot = insertSlot(table, partition, hash, id);
    if (slot != 0) {
      store<u32>(slot, timeSec, SLOT.time);
      stepRow(table, <usize>load<u32>(slot, SLOT.row), gradients, id);
    }
    unlock(partition + PARTITION.lock);
    if (slot == 0 && !passed) return <i32>i;
  }
  return <i32>n;
}

/** First values and first state for the rows of ids[0..n), made when absent; status[i] = 1 where the row was there. */
export function tableReinitialize(table: usize, ids: usize, n: u32, timeSec: u32, status: usize): u32 {
  const rowBytes = <usize>load<u32>(table, TABLE.rowBytes);
  for (let i: u32 = 0; i < n; i++, ids += 8, status += 4) {
    bringNear(table, ids, i, n, rowBytes);
    const id = load<i64>(ids);
    const hash = mix64(<u64>id);
    const partition = partitionAt(table, hash);
    lock(partition + PARTITION.lock);
    let slot = slotOf(partition, bucketOf(partition, hash), id);
    const existed = slot != 0;
    if (existed) tableInitRow(table, <usize>load<u32>(slot, SLOT.row), id);
    else slot = insertSlot(table, partition, hash, id);
    if (slot != 0) store<u32>(slot, timeSec, SLOT.time);
    unlock(partition + PARTITION.lock);
    if (slot == 0) return i;
    store<i32>(status, <i32>existed);
  }
  return n;
}
