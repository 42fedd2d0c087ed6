/** @file Plain twin of assembly/table/banks.ts. */
import { APPLY_SLICE, PARTITIONS } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';

/** Calls `visit` with each index of partition `p` in turn. */
function each(m: Views, order: number, offsets: number, p: number, visit: (index: number) => void): void {
  const end = m.u32[offsets / 4 + p + 1]!;
  for (let k = m.u32[offsets / 4 + p]!; k < end; k++) visit(m.u32[order / 4 + k]!);
}

export function bankIds(
  m: Views,
  ids: number,
  order: number,
  offsets: number,
  bank: number,
  banks: number,
  out: number,
): number {
  let n = 0;
  for (let p = bank; p < PARTITIONS; p += banks) {
    each(m, order, offsets, p, (u) => {
      m.i64[out / 8 + n++] = m.i64[ids / 8 + u]!;
    });
  }
  return n;
}

export function bankRows(
  m: Views,
  order: number,
  offsets: number,
  bank: number,
  banks: number,
  rows: number,
  local: number,
  strideBytes: number,
): void {
  let row = local;
  for (let p = bank; p < PARTITIONS; p += banks) {
    each(m, order, offsets, p, (u) => {
      m.u32[rows / 4 + u] = row;
      row += strideBytes;
    });
  }
}

export function bankCounts(
  m: Views,
  slice: number,
  first: number,
  end: number,
  bank: number,
  banks: number,
  out: number,
): void {
  const word = (name: keyof typeof APPLY_SLICE) => m.u32[slice / 4 + APPLY_SLICE[name]]!;
  let n = 0;
  for (let p = first; p < end; p++) {
    if (p % banks !== bank) continue;
    each(m, word('order'), word('offsets'), p, (u) => {
      m.u32[out / 4 + n++] = m.u32[word('counts') / 4 + u]!;
    });
  }
}

export function bankUpdates(
  m: Views,
  slice: number,
  first: number,
  end: number,
  bank: number,
  banks: number,
  outIds: number,
  outGradients: number,
  outOffsets: number,
): number {
  const word = (name: keyof typeof APPLY_SLICE) => m.u32[slice / 4 + APPLY_SLICE[name]]!;
  const stride = word('stride');
  const gradients = word('gradients') / 4;
  let n = 0;
  for (let p = 0; p < PARTITIONS; p++) {
    m.u32[outOffsets / 4 + p] = n;
    if (p < first || p >= end || p % banks !== bank) continue;
    each(m, word('order'), word('offsets'), p, (u) => {
      m.i64[outIds / 8 + n] = m.i64[word('ids') / 8 + u]!;
      m.f32.copyWithin(outGradients / 4 + n * stride, gradients + u * stride, gradients + (u + 1) * stride);
      n++;
    });
  }
  m.u32[outOffsets / 4 + PARTITIONS] = n;
  return n;
}
