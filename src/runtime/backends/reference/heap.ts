/** @file Plain twin of assembly/heap.ts and of the locks of assembly/sync.ts. */
import { HEAP, HEAP_BLOCK_MAX, OVERFLOW, PARTITION_BYTES, SHARE_BYTES, TABLE } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';

/** Power of two that holds `bytes`; blocks have 64 at least. */
export function sizeLog2(bytes: number): number {
  return bytes <= 64 ? 6 : 32 - Math.clz32(bytes - 1);
}

export function heapAlloc(m: Views, heap: number, bytes: number): number {
  if (bytes > HEAP_BLOCK_MAX) return 0;
  const log2 = sizeLog2(bytes);
  const size = 2 ** log2;
  const at = heap / 4;
  const list = at + HEAP.retired + log2;
  lock(m, at + HEAP.lock);
  let block = m.u32[list]!;
  if (block !== 0) m.u32[list] = m.u32[block / 4]!;
  else block = splitRetired(m, at, log2);
  if (block !== 0) {
    unlock(m, at + HEAP.lock);
    m.u8.fill(0, block, block + size);
    return block;
  }
  const [top, parent] = [m.u32[at + HEAP.top]!, m.u32[at + HEAP.parent]!];
  if (m.u32[at + HEAP.end]! - top < size) block = 0;
  else block = parent === 0 ? top : heapAlloc(m, parent, size);
  if (block !== 0) m.u32[at + HEAP.top] = top + size;
  unlock(m, at + HEAP.lock);
  return block;
}

/** The heap of a partition, which is given by its word: that of the table, or the partition's share of it. */
export function heapOf(m: Views, table: number, partition: number): number {
  const block = m.u32[table / 4 + TABLE.overflow]!;
  const shares = block === 0 ? 0 : m.u32[block / 4 + OVERFLOW.shares]!;
  if (shares === 0) return m.u32[table / 4 + TABLE.heap]!;
  const index = (partition * 4 - m.u32[table / 4 + TABLE.partitions]!) / PARTITION_BYTES;
  return shares + index * SHARE_BYTES;
}

function splitRetired(m: Views, at: number, log2: number): number {
  for (let larger = log2 + 1; larger < 32; larger++) {
    const block = m.u32[at + HEAP.retired + larger]!;
    if (block === 0) continue;
    m.u32[at + HEAP.retired + larger] = m.u32[block / 4]!;
    for (let rest = larger - 1; rest >= log2; rest--) {
      const half = block + 2 ** rest;
      m.u32[half / 4] = m.u32[at + HEAP.retired + rest]!;
      m.u32[at + HEAP.retired + rest] = half;
    }
    return block;
  }
  return 0;
}

export function heapFree(m: Views, heap: number, block: number, bytes: number): void {
  const at = heap / 4;
  const list = at + HEAP.retired + sizeLog2(bytes);
  lock(m, at + HEAP.lock);
  m.u32[block / 4] = m.u32[list]!;
  m.u32[list] = block;
  unlock(m, at + HEAP.lock);
}

/** Takes the lock in an i32 word. Spins: whoever holds one lets it go soon. */
export function lock(m: Views, word: number): void {
  while (Atomics.compareExchange(m.i32, word, 0, 1) !== 0);
}

export function unlock(m: Views, word: number): void {
  Atomics.store(m.i32, word, 0);
}
