/** @file Plain twin of assembly/table/scan.ts: slots in the order of the index or of an index of a given size. */
import { placeInBuckets } from '../../../memory/hash.js';
import { BUCKET_BYTES, BUCKET_SLOTS, PARTITION, SCAN_CURSOR } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { bucketsOf, idOf, liveSlots, partitionWord } from './table-index.js';

export function tableScan(
  m: Views,
  table: number,
  first: number,
  end: number,
  cursor: number,
  slots: number,
  limit: number,
): number {
  const at = cursor / 4;
  const from = [m.u32[at + SCAN_CURSOR.partition]!, m.u32[at + SCAN_CURSOR.position]!] as const;
  let count = 0;
  for (let p = Math.max(first, from[0]); p < end; p++) {
    const partition = partitionWord(m, table, p);
    const index = m.u32[partition + PARTITION.index]!;
    for (const slot of liveSlots(m, index, bucketsOf(m, partition))) {
      const bucket = Math.floor((slot - index) / BUCKET_BYTES);
      const position = bucket * BUCKET_SLOTS + ((slot - index) % BUCKET_BYTES) / 4;
      if (p === from[0] && position < from[1]) continue;
      if (count === limit) {
        m.u32.set([p, position], at);
        return count;
      }
      m.u32[slots / 4 + count++] = slot;
    }
  }
  m.u32.set([end, 0], at);
  return count;
}

/** Slots of a partition by the buckets their ids have in an index of 2^bucketsLog2. `places` is for the kernel. */
export function slotsInOrder(
  m: Views,
  table: number,
  p: number,
  bucketsLog2: number,
  _rows: number,
  slots: number,
  _places: number,
): number {
  const partition = partitionWord(m, table, p);
  const live = [...liveSlots(m, m.u32[partition + PARTITION.index]!, bucketsOf(m, partition))];
  const placed = live.map((slot) => ({ slot, place: placeInBuckets(idOf(m, slot), bucketsLog2) }));
  placed.sort((a, b) => (a.place < b.place ? -1 : 1));
  m.u32.set(
    placed.map(({ slot }) => slot),
    slots / 4,
  );
  return placed.length;
}
