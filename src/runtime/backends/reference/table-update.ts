/** @file Plain twin of assembly/table/update.ts: lookup and update in one go. */
import { LOOKUP_CHUNK, UPDATE_RESULT } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { findSlot, ROW, TIME } from './table-index.js';
import { upsertSlot } from './table-rows.js';
import { raiseUpdateTime, refusesStep, stepFinite } from './table-step.js';

/** Stamps the ids of a chunk that have a row; returns the others. */
function stamp(m: Views, table: number, ids: BigInt64Array, updateSec: number): bigint[] {
  const absent: bigint[] = [];
  for (const id of ids) {
    const slot = findSlot(m, table, id);
    if (slot === 0) absent.push(id);
    else m.u32[slot / 4 + TIME] = updateSec;
  }
  return absent;
}

export function tableUpdate(
  m: Views,
  table: number,
  ids: number,
  n: number,
  gradients: number,
  stride: number,
  _scratch: number,
  updateSec: number,
): number {
  if (refusesStep(m, table)) return UPDATE_RESULT.refused;
  raiseUpdateTime(m, table, updateSec);
  for (let s = 0; s < n; s += LOOKUP_CHUNK) {
    const chunk = m.i64.slice(ids / 8 + s, ids / 8 + Math.min(s + LOOKUP_CHUNK, n));
    const absent = stamp(m, table, chunk, updateSec);
    for (const id of absent) if (upsertSlot(m, table, id) === 0) return s;
    stamp(m, table, chunk, updateSec);
    for (const [i, id] of chunk.entries()) {
      const row = m.u32[findSlot(m, table, id) / 4 + ROW]!;
      if (!stepFinite(m, table, row, gradients + (s + i) * stride * 4, id)) return UPDATE_RESULT.badGradient;
    }
  }
  return n;
}
