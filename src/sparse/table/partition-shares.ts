/**
 * @file Shares of a bank's heap, one for each partition: partition p of all tables that go on when they are full grows
 * in share p.
 *
 * A partition has one owner in a step, so what it gets does not depend on how many threads there are nor on their
 * timing: which ids of a full table get a row is then a matter of the ids alone. An eighth of the room stays with the
 * heap, for scratch memory, bays of programs and the buffers that files are read into.
 */
import { HEAP, PARTITIONS, SHARE_BYTES } from '../../memory/table-layout.js';
import type { TableBank } from '../../runtime/tables/table-banks.js';
import { heapBlock } from './table-control.js';
import { usualScratchBytes } from './table-scratch.js';

/** Of eight parts of the room. */
const SHARED_PARTS = 7;
/** What small memories keep for files, beside scratch memory, where an eighth is less. */
const FILE_BYTES = 1 << 16;
/** Of the smallest block a heap hands out. */
const SIZE_LOG2_MIN = 6;
const SHARES_BYTES = PARTITIONS * SHARE_BYTES;

/** Address of the shares of a bank that has so many partitions of each table, made for the first who asks. */
export function takeShares(bank: TableBank, partitions: number, name: string): number {
  const { u32 } = bank.views;
  const at = bank.heap / 4;
  if (u32[at + HEAP.shares] === 0) u32[at + HEAP.shares] = heapBlock(bank, SHARES_BYTES, `${name}/shares`);
  u32[at + HEAP.sharers]!++;
  limitShares(bank, partitions);
  return u32[at + HEAP.shares]!;
}

/**
 * Divides the room anew with each table that comes before the first row: whichever was first, and whether scratch
 * memory and bays were taken before, which a run that is resumed takes later, it is the same in the end.
 */
function limitShares(bank: TableBank, partitions: number): void {
  const { u32 } = bank.views;
  const at = bank.heap / 4;
  const shares = Array.from({ length: PARTITIONS }, (_, p) => shareAt(bank, p));
  if (shares.some((share) => u32[share + HEAP.top] !== 0)) return;
  const freeBytes = u32[at + HEAP.end]! - u32[at + HEAP.top]! + retiredBytes(u32, at);
  const roomBytes = freeBytes + u32[at + HEAP.scratchBytes]!;
  const sharedBytes = Math.min((roomBytes * SHARED_PARTS) / 8, roomBytes - usualScratchBytes(bank) - FILE_BYTES);
  const limit = Math.max(0, Math.floor(sharedBytes / partitions / 64) * 64);
  for (const share of shares) {
    u32[share + HEAP.end] = limit;
    u32[share + HEAP.parent] = bank.heap;
  }
}

/** Word of the share of partition `p`, the header of a heap. */
export function shareAt({ views, heap }: TableBank, p: number): number {
  return (views.u32[heap / 4 + HEAP.shares]! + p * SHARE_BYTES) / 4;
}

/** Bytes of the blocks that were given back to the heap at word `at`. */
function retiredBytes(u32: Uint32Array, at: number): number {
  let bytes = 0;
  for (let log2 = SIZE_LOG2_MIN; log2 < 32; log2++) {
    for (let block = u32[at + HEAP.retired + log2]!; block !== 0; block = u32[block / 4]!) bytes += 2 ** log2;
  }
  return bytes;
}

/** For a table that is gone: what shares hold goes back to the heap with the last. */
export function releaseShares({ kernels, views, heap }: TableBank): void {
  const { u32 } = views;
  const at = heap / 4;
  if (--u32[at + HEAP.sharers]! > 0) return;
  const shares = u32[at + HEAP.shares]!;
  for (let p = 0; p < PARTITIONS; p++) {
    for (let log2 = SIZE_LOG2_MIN; log2 < 32; log2++) {
      const list = (shares + p * SHARE_BYTES) / 4 + HEAP.retired + log2;
      for (let block = u32[list]!; block !== 0; block = u32[list]!) {
        u32[list] = u32[block / 4]!;
        kernels.heapFree(heap, block, 2 ** log2);
      }
    }
  }
  u32[at + HEAP.shares] = 0;
  kernels.heapFree(heap, shares, SHARES_BYTES);
}
