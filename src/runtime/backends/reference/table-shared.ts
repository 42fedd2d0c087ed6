/** @file Plain twin of assembly/table/shared.ts: kernels of any thread, which lock the partition of each id. */
import { mix64BigInt } from '../../../memory/hash.js';
import { PARTITION, SEGMENT, TABLE, UPDATE_RESULT } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { lock, unlock } from './heap.js';
import { findSlot, partitionAt, ROW, TIME } from './table-index.js';
import { decodeFloats, encodedBytes, encodeFloats, isServing, segmentsOf, showId } from './table-retriever.js';
import { removeSlot, tableInitRow, upsertSlot } from './table-rows.js';
import { checkGradient, raiseUpdateTime, refusesStep, stepRow } from './table-step.js';

/** Runs `body` for ids[0..n) with the partition locked, until it answers false; returns how many it was done for. */
function eachLocked(
  m: Views,
  table: number,
  ids: number,
  n: number,
  body: (id: bigint, index: number, partition: number) => boolean,
): number {
  for (let i = 0; i < n; i++) {
    const id = m.i64[ids / 8 + i]!;
    const partition = partitionAt(m, table, mix64BigInt(id));
    lock(m, partition + PARTITION.lock);
    const goesOn = body(id, i, partition);
    unlock(m, partition + PARTITION.lock);
    if (!goesOn) return i;
  }
  return n;
}

export function tableLookup(m: Views, table: number, ids: number, n: number, out: number, outStride: number): number {
  let found = 0;
  eachLocked(m, table, ids, n, (id, i) => {
    if (showId(m, table, id, out + i * outStride * 4)) found++;
    return true;
  });
  return found;
}

export function tableContains(m: Views, table: number, ids: number, n: number, out: number): number {
  let found = 0;
  eachLocked(m, table, ids, n, (id, i) => {
    const there = findSlot(m, table, id) !== 0 ? 1 : 0;
    m.u8[out + i] = there;
    found += there;
    return true;
  });
  return found;
}

export function tableRemove(m: Views, table: number, ids: number, n: number): number {
  let removed = 0;
  eachLocked(m, table, ids, n, (id, _, partition) => {
    const slot = findSlot(m, table, id);
    if (slot !== 0) removeSlot(m, partition, slot);
    if (slot !== 0) removed++;
    return true;
  });
  return removed;
}

/** dst[c] += src[c]. */
function addFloats(m: Views, src: number, dst: number, n: number): void {
  for (let c = 0; c < n; c++) m.f32[dst / 4 + c]! += m.f32[src / 4 + c]!;
}

function writeRow(m: Views, table: number, row: number, values: number, scratch: number, add: boolean): void {
  if (!isServing(m, table)) {
    const dim = m.u32[table / 4 + TABLE.dim]!;
    if (add) addFloats(m, values, row, dim);
    else m.u8.copyWithin(row, values, values + dim * 4);
    return;
  }
  for (const segment of segmentsOf(m, table)) {
    const dim = m.u32[segment + SEGMENT.dim]!;
    const from = values + m.u32[segment + SEGMENT.weightOffset]! * 4;
    const body = row + m.u32[segment + SEGMENT.bodyOffset]!;
    if (!add) encodeFloats(m, segment, from, body, dim);
    // What is decoded passes through the four floats of the lock's holder.
    for (let c = 0; add && c < dim; c += 4) {
      const n = Math.min(4, dim - c);
      const at = body + c * encodedBytes(m, segment);
      decodeFloats(m, segment, at, scratch, n);
      addFloats(m, from + c * 4, scratch, n);
      encodeFloats(m, segment, scratch, at, n);
    }
  }
}

/** Slot of `id`, made when it is absent and admitted; 'passed' when it is not admitted, 0 when the heap is full. */
function admit(m: Views, table: number, id: bigint, index: number, admitted: number): number | 'passed' {
  if (findSlot(m, table, id) === 0 && admitted !== 0 && m.u8[admitted + index] === 0) return 'passed';
  return upsertSlot(m, table, id);
}

export function tableAssign(
  m: Views,
  table: number,
  ids: number,
  n: number,
  values: number,
  stride: number,
  timeSec: number,
  admitted: number,
  add: number,
): number {
  raiseUpdateTime(m, table, timeSec);
  return eachLocked(m, table, ids, n, (id, i, partition) => {
    const slot = admit(m, table, id, i, admitted);
    if (slot === 'passed' || slot === 0) return slot === 'passed';
    m.u32[slot / 4 + TIME] = timeSec;
    const scratch = (partition + PARTITION.scratch) * 4;
    writeRow(m, table, m.u32[slot / 4 + ROW]!, values + i * stride * 4, scratch, add !== 0);
    return true;
  });
}

export function tableOptimize(
  m: Views,
  table: number,
  ids: number,
  n: number,
  gradients: number,
  stride: number,
  timeSec: number,
  admitted: number,
): number {
  if (refusesStep(m, table)) return UPDATE_RESULT.refused;
  raiseUpdateTime(m, table, timeSec);
  let failed = false;
  const handled = eachLocked(m, table, ids, n, (id, i) => {
    const gradient = gradients + i * stride * 4;
    const check = checkGradient(m, table, gradient);
    failed = check === 'fail';
    if (check !== 'good') return !failed;
    const slot = admit(m, table, id, i, admitted);
    if (slot === 'passed' || slot === 0) return slot === 'passed';
    m.u32[slot / 4 + TIME] = timeSec;
    stepRow(m, table, m.u32[slot / 4 + ROW]!, gradient, id);
    return true;
  });
  return failed ? UPDATE_RESULT.badGradient : handled;
}

export function tableReinitialize(
  m: Views,
  table: number,
  ids: number,
  n: number,
  timeSec: number,
  status: number,
): number {
  return eachLocked(m, table, ids, n, (id, i) => {
    const existed = findSlot(m, table, id) !== 0;
    const slot = upsertSlot(m, table, id);
    if (slot === 0) return false;
    tableInitRow(m, table, m.u32[slot / 4 + ROW]!, id);
    m.u32[slot / 4 + TIME] = timeSec;
    m.i32[status / 4 + i] = existed ? 1 : 0;
    return true;
  });
}
