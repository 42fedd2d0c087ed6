/** @file Plain twin of assembly/table/admit.ts, but for tableTouch: the set of touched pairs has one form in memory. */
import { KEPT_OUT } from '../../../memory/filter-layout.js';
import { mix64BigInt } from '../../../memory/hash.js';
import {
  APPLY_SLICE,
  APPLY_SLICE_BYTES,
  BUCKET_BYTES,
  OVERFLOW_SLOTS,
  PARTITIONS,
  TABLE,
} from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import { ROW } from './table-index.js';
import { twin } from './twin.js';

/** The slot that takes what nobody reads in a partition, or 0. */
export function sinkSlot(m: Views, table: number, partition: number): number {
  const block = m.u32[table / 4 + TABLE.overflow]!;
  return block === 0 ? 0 : block + OVERFLOW_SLOTS + partition * BUCKET_BYTES;
}

function isSink(m: Views, table: number, slot: number): boolean {
  const first = sinkSlot(m, table, 0);
  return first !== 0 && slot >= first && slot < first + PARTITIONS * BUCKET_BYTES;
}

/** The ids of a partition in slice order, with where their slot, row and count are, in words. */
function* idsOf(m: Views, first: number, end: number, slices: number, sliceCount: number) {
  for (let s = 0; s < sliceCount; s++) {
    const slice = (slices + s * APPLY_SLICE_BYTES) / 4;
    const word = (name: keyof typeof APPLY_SLICE) => m.u32[slice + APPLY_SLICE[name]]!;
    const offsets = word('offsets') / 4;
    for (let k = m.u32[offsets + first]!; k < m.u32[offsets + end]!; k++) {
      const u = m.u32[word('order') / 4 + k]!;
      const [slot, row, count] = [word('slots') / 4 + u, word('rows') / 4 + u, word('counts') / 4 + u];
      yield { id: m.i64[word('ids') / 8 + u]!, slot, row, count };
    }
  }
}

export const tableAdmit = twin(KERNEL.tableAdmit, (m, { table, first, end, slices, sliceCount }) => {
  let kept = 0;
  for (let p = first; p < end; p++) {
    const sink = sinkSlot(m, table, p);
    for (const { slot, row, count } of idsOf(m, p, p + 1, slices, sliceCount)) {
      if (!isKeptOut(m, count)) continue;
      m.u32[slot] = sink;
      m.u32[row] = m.u32[sink / 4 + ROW]!;
      kept++;
    }
  }
  return kept;
});

function isKeptOut(m: Views, countWord: number): boolean {
  return (m.u32[countWord]! & KEPT_OUT) !== 0;
}

export function tablePassOver(
  m: Views,
  table: number,
  ids: number,
  n: number,
  counts: number,
  rows: number,
  slots: number,
): void {
  const shift = BigInt(64 - m.u32[table / 4 + TABLE.partitionsLog2]!);
  for (let i = 0; i < n; i++) {
    if (!isKeptOut(m, counts / 4 + i)) continue;
    const sink = sinkSlot(m, table, Number(mix64BigInt(m.i64[ids / 8 + i]!) >> shift));
    m.u32[slots / 4 + i] = sink;
    m.u32[rows / 4 + i] = m.u32[sink / 4 + ROW]!;
  }
}

export function tableStepped(m: Views, table: number, ids: number, n: number, slots: number, out: number): number {
  let count = 0;
  for (let i = 0; i < n; i++) {
    if (!isSink(m, table, m.u32[slots / 4 + i]!)) m.i64[out / 8 + count++] = m.i64[ids / 8 + i]!;
  }
  return count;
}

/** The ids that tableTouch records, slice by slice. */
export function touchedIds(
  m: Views,
  table: number,
  first: number,
  end: number,
  slices: number,
  sliceCount: number,
): BigInt64Array {
  const stepped = [...idsOf(m, first, end, slices, sliceCount)].filter(({ slot }) => !isSink(m, table, m.u32[slot]!));
  return BigInt64Array.from(stepped, ({ id }) => id);
}
