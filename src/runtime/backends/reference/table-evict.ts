/** @file Plain twin of assembly/table/evict.ts: removal of rows by age, or of all. */
import { BLOCK, BUCKET_BYTES, PARTITION } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { heapFree, heapOf } from './heap.js';
import { bucketsOf, idOf, liveSlots, partitionWord, TIME } from './table-index.js';
import { removeSlot } from './table-rows.js';

export function tableEvict(m: Views, table: number, first: number, end: number, nowSec: number, days: number): number {
  let removed = 0;
  for (let p = first; p < end; p++) {
    const partition = partitionWord(m, table, p);
    for (const slot of liveSlots(m, m.u32[partition + PARTITION.index]!, bucketsOf(m, partition))) {
      const featureSlot = Number((BigInt.asUintN(64, idOf(m, slot)) >> 48n) & 0x7fffn);
      const age = nowSec - m.u32[slot / 4 + TIME]!;
      if (age < m.u32[days / 4 + featureSlot]! * 86400) continue;
      removeSlot(m, partition, slot);
      removed++;
    }
  }
  return removed;
}

export function tableClear(m: Views, table: number, first: number, end: number): void {
  for (let p = first; p < end; p++) {
    const partition = partitionWord(m, table, p);
    const heap = heapOf(m, table, partition);
    const index = m.u32[partition + PARTITION.index]!;
    if (index !== 0) heapFree(m, heap, index, bucketsOf(m, partition) * BUCKET_BYTES);
    for (let block = m.u32[partition + PARTITION.firstBlock]!; block !== 0; ) {
      const next = m.u32[block / 4 + BLOCK.next]!;
      heapFree(m, heap, block, m.u32[block / 4 + BLOCK.bytes]!);
      block = next;
    }
    // The lock, which the caller may hold, and what follows it stay.
    m.u32.fill(0, partition, partition + PARTITION.lock);
  }
}
