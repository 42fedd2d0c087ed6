/** @file Plain twin of assembly/table/lookup.ts: embeddings straight from the table, one id after the other. */
import { TABLE } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { tableFind } from './table-rows.js';

/** Word index of the row of the id at `id`; its address passes through the scratch memory, as over there. */
function rowWord(m: Views, table: number, id: number, scratch: number): number {
  tableFind(m, table, id, 1, scratch, 0);
  return m.u32[scratch / 4]! / 4;
}

export function tableLookupSumF32(
  m: Views,
  table: number,
  ids: number,
  splits: number,
  rows: number,
  out: number,
  outStride: number,
  scratch: number,
): void {
  const dim = m.u32[table / 4 + TABLE.dim]!;
  const first = m.i32[splits / 4]!;
  for (let r = 0; r < rows; r++) {
    const sums = m.f32.subarray(out / 4 + r * outStride, out / 4 + r * outStride + dim).fill(0);
    for (let j = m.i32[splits / 4 + r]!; j < m.i32[splits / 4 + r + 1]!; j++) {
      const row = rowWord(m, table, ids + (j - first) * 8, scratch);
      for (let c = 0; c < dim; c++) sums[c]! += m.f32[row + c]!;
    }
  }
}

export function tableGatherF32(
  m: Views,
  table: number,
  ids: number,
  n: number,
  out: number,
  outStride: number,
  scratch: number,
): void {
  const dim = m.u32[table / 4 + TABLE.dim]!;
  for (let i = 0; i < n; i++) {
    const row = rowWord(m, table, ids + i * 8, scratch);
    m.f32.copyWithin(out / 4 + i * outStride, row, row + dim);
  }
}
