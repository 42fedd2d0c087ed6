/** @file Plain twin of assembly/table/apply.ts: gradients of all slices summed per id, each row stepped once. */
import {
  APPLY_SLICE,
  APPLY_SLICE_BYTES,
  BUCKET_BYTES,
  idWordOf,
  OVERFLOW,
  OVERFLOW_SLOTS,
  PARTITION,
  ROW_SUMMING,
  TABLE,
  TIME_UNKNOWN,
  UPDATE_RESULT,
} from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import { sinkSlot } from './table-admit.js';
import { tableEvict } from './table-evict.js';
import { findSlot, partitionWord, ROW, TIME } from './table-index.js';
import { upsertSlot } from './table-rows.js';
import { latestUpdate, raiseUpdateTime, refusesStep, stepFinite } from './table-step.js';
import { twin } from './twin.js';

/** The updates of one partition: position in the slices, id and gradient, in slice order. */
type Updates = ReturnType<typeof updatesOf>;
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

/** Inserts the ids that have no slot; false as soon as the heap is full. */
function insertIds(m: Views, table: number, updates: Updates): boolean {
  for (const { id, slotWord, rowWord } of updates) {
    if (m.u32[slotWord] !== 0) continue;
    const slot = upsertSlot(m, table, id);
    if (slot === 0) return false;
    m.u32[slotWord] = slot;
    m.u32[rowWord] = m.u32[slot / 4 + ROW]!;
  }
  return true;
}

/**
 * Finds slots and rows once more: an index that grew has moved them. Those without get `absent`, but for those a filter
 * keeps out; returns how many.
 */
function findAgain(m: Views, table: number, partition: number, updates: Updates, absent: number): number {
  let missing = 0;
  const sink = sinkSlot(m, table, partition);
  for (const { id, slotWord, rowWord } of updates) {
    let slot = findSlot(m, table, id);
    if (slot === 0) {
      const keptOut = sink !== 0 && m.u32[slotWord] === sink;
      slot = keptOut ? sink : absent;
      missing += keptOut ? 0 : 1;
    }
    m.u32[slotWord] = slot;
    m.u32[rowWord] = m.u32[slot / 4 + ROW]!;
  }
  return missing;
}

/** Rows for ids that have none; where the heap is full, what the table's overflow block says. */
function insertAbsent(m: Views, table: number, partition: number, updates: () => Updates, updateSec: number): boolean {
  let whole = insertIds(m, table, updates());
  if (!whole) {
    findAgain(m, table, partition, updates(), 0);
    for (const { slotWord } of updates()) {
      const slot = m.u32[slotWord]!;
      if (slot !== 0) m.u32[slot / 4 + TIME] = updateSec;
    }
    if (evictWhenFull(m, table, partition)) {
      findAgain(m, table, partition, updates(), 0);
      whole = insertIds(m, table, updates());
    }
  }
  if (!whole) {
    const overflow = m.u32[table / 4 + TABLE.overflow]!;
    if (overflow === 0 || m.u32[overflow / 4 + OVERFLOW.passesOver] === 0) return false;
    const slot = overflow + OVERFLOW_SLOTS + partition * BUCKET_BYTES;
    m.u32[partitionWord(m, table, partition) + PARTITION.passedOver]! += findAgain(
      m,
      table,
      partition,
      updates(),
      slot,
    );
  } else findAgain(m, table, partition, updates(), 0);
  return true;
}

function evictWhenFull(m: Views, table: number, partition: number): boolean {
  const overflow = m.u32[table / 4 + TABLE.overflow]!;
  const days = overflow === 0 ? 0 : m.u32[overflow / 4 + OVERFLOW.days]!;
  return days !== 0 && tableEvict(m, table, partition, partition + 1, latestUpdate(m, table), days) > 0;
}

/** Sums the gradients of the ids of a partition into the first of each; returns the slots, which point to the sums. */
function sum(m: Views, table: number, updates: Updates, merged: number): number {
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
    goes &&= stepFinite(m, table, m.u32[slot + ROW]!, m.u32[slot + TIME]!, m.i64[idWordOf(slot * 4)]!);
    m.u32[slot + TIME] = updateSec;
  }
  return goes;
}

export const tableApply = twin(KERNEL.tableApply, (m, words) => {
  const { table, first, end, slices, sliceCount, merged, timeSec } = words;
  if (refusesStep(m, table)) return UPDATE_RESULT.refused;
  const updateSec = timeSec === TIME_UNKNOWN ? latestUpdate(m, table) : timeSec;
  raiseUpdateTime(m, table, updateSec);
  const updates = (partition: number) => updatesOf(m, partition, slices, sliceCount);
  const insert = (partition: number) => insertAbsent(m, table, partition, () => updates(partition), updateSec);
  if (sliceCount === 1) {
    for (let partition = first; partition < end; partition++) if (!insert(partition)) return UPDATE_RESULT.heapFull;
  }
  let stepped = 0;
  let good = true;
  for (let partition = first; partition < end; partition++) {
    if (sliceCount > 1 && !insert(partition)) return UPDATE_RESULT.heapFull;
    const count = sum(m, table, updates(partition), merged);
    good = step(m, table, merged, count, updateSec, good);
    if (sliceCount > 1 && !good) return UPDATE_RESULT.badGradient;
    stepped += count;
  }
  return good ? stepped : UPDATE_RESULT.badGradient;
});
