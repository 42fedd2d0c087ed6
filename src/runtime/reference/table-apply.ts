/** @file Plain twin of assembly/table/apply.ts: gradients of all slices summed per id, each row stepped once. */
import { APPLY_SLICE, APPLY_SLICE_BYTES, ROW_SUMMING, TABLE, UPDATE_RESULT } from '../../memory/table-layout.js';
import type { Views } from '../../memory/views.js';
import { findSlot, ROW, TIME } from './table-index.js';
import { upsertSlot } from './table-rows.js';
import { raiseUpdateTime, refusesStep, stepFinite } from './table-step.js';

/** The updates of one partition: position in the slices, id and gradient, in slice order. */
function* updatesOf(m: Views, partition: number, slices: number, sliceCount: number) {
  for (let s = 0; s < sliceCount; s++) {
    const slice = (slices + s * APPLY_SLICE_BYTES) / 4;
    const word = (name: keyof typeof APPLY_SLICE) => m.u32[slice + APPLY_SLICE[name]]!;
    const offsets = word('offsets') / 4 + partition;
    for (let k = m.u32[offsets]!; k < m.u32[offsets + 1]!; k++) {
      const u = m.u32[word('order') / 4 + k]!;
      const gradient = word('gradients') + u * word('stride') * 4;
      yield {
        id: m.i64[word('ids') / 8 + u]!,
        gradient,
        slotWord: word('slots') / 4 + u,
        rowWord: word('rows') / 4 + u,
      };
    }
  }
}

/** Rows for ids that have none. An index that grows moves slots, not rows, so the slots are looked up once more. */
function insertAbsent(m: Views, table: number, updates: () => ReturnType<typeof updatesOf>): boolean {
  for (const { id, slotWord, rowWord } of updates()) {
    if (m.u32[slotWord] !== 0) continue;
    const slot = upsertSlot(m, table, id);
    if (slot === 0) return false;
    m.u32[slotWord] = slot;
    m.u32[rowWord] = m.u32[slot / 4 + ROW]!;
  }
  for (const { id, slotWord } of updates()) m.u32[slotWord] = findSlot(m, table, id);
  return true;
}

/** Sums the gradients of the ids of a partition into the first of each; returns the slots, which point to the sums. */
function sum(m: Views, table: number, updates: ReturnType<typeof updatesOf>, merged: number): number {
  const dim = m.u32[table / 4 + TABLE.dim]!;
  let count = 0;
  for (const { gradient, slotWord } of updates) {
    const slot = m.u32[slotWord]!;
    const row = m.u32[slot / 4 + ROW]!;
    if ((row & ROW_SUMMING) === 0) {
      m.u32[slot / 4 + ROW] = row + ROW_SUMMING;
      m.u32[slot / 4 + TIME] = gradient;
      m.u32[merged / 4 + count++] = slot;
    } else {
      const total = m.u32[slot / 4 + TIME]! / 4;
      for (let c = 0; c < dim; c++) m.f32[total + c]! += m.f32[gradient / 4 + c]!;
    }
  }
  return count;
}

/** Steps the rows of `count` slots unless `good` is false, and ends their sums. False after a bad sum that fails. */
function step(m: Views, table: number, merged: number, count: number, updateSec: number, good: boolean): boolean {
  let goes = good;
  for (let i = 0; i < count; i++) {
    const slot = m.u32[merged / 4 + i]! / 4;
    m.u32[slot + ROW]! -= ROW_SUMMING;
    goes &&= stepFinite(m, table, m.u32[slot + ROW]!, m.u32[slot + TIME]!);
    m.u32[slot + TIME] = updateSec;
  }
  return goes;
}

export function tableApply(
  m: Views,
  table: number,
  first: number,
  end: number,
  slices: number,
  sliceCount: number,
  merged: number,
  updateSec: number,
): number {
  if (refusesStep(m, table)) return UPDATE_RESULT.refused;
  raiseUpdateTime(m, table, updateSec);
  const insert = (partition: number) => insertAbsent(m, table, () => updatesOf(m, partition, slices, sliceCount));
  if (sliceCount === 1) {
    for (let partition = first; partition < end; partition++) if (!insert(partition)) return UPDATE_RESULT.heapFull;
  }
  let stepped = 0;
  let good = true;
  for (let partition = first; partition < end; partition++) {
    if (sliceCount > 1 && !insert(partition)) return UPDATE_RESULT.heapFull;
    const count = sum(m, table, updatesOf(m, partition, slices, sliceCount), merged);
    good = step(m, table, merged, count, updateSec, good);
    if (sliceCount > 1 && !good) return UPDATE_RESULT.badGradient;
    stepped += count;
  }
  return good ? stepped : UPDATE_RESULT.badGradient;
}
