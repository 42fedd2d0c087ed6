/**
 * @file Scratch memory of one thread in every bank, shared by all tables it holds there: a call at a time uses it.
 *
 * It is taken when the first table is made or attached, not when it is first needed: a table whose memory has run out
 * can still be read.
 */
import { HEAP, HEAP_HEADER_BYTES } from '../../memory/table-layout.js';
import type { TableBank } from '../../runtime/tables/table-banks.js';
import type { TableMemory } from '../../runtime/tables/table-memory.js';
import { heapBlockBytes } from '../config/table-growth.js';
import { heapBlock } from './table-control.js';

/** Enough for the days of all slots, so that a full table can evict. */
const BYTES_MIN = 1 << 17;
const BYTES_MAX = 1 << 18;
/** Heaps below this, as tests have, spare less. */
const SMALL_HEAP_BYTES = 1 << 20;
const SMALL_HEAP_SCRATCH_BYTES = 1 << 14;

export interface Scratch {
  readonly bytes: number;
  /** Address in each bank. */
  readonly addresses: readonly number[];
}

const scratches = new WeakMap<TableMemory, Scratch>();

/**
 * At least `bytes` bytes in every bank. What was handed out before may be gone after; when there is no room for more,
 * it stays.
 */
export function scratchOf(memory: TableMemory, bytes: number): Scratch {
  let scratch = scratches.get(memory);
  if (scratch === undefined || scratch.bytes < bytes) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, ...memory.banks.map(usualScratchBytes))));
    const taken: Scratch & { addresses: number[] } = { bytes: size, addresses: [] };
    try {
      for (const bank of memory.banks) taken.addresses.push(scratchBlock(bank, size, 'scratch of tables'));
    } catch (cause) {
      free(memory, taken);
      throw cause;
    }
    releaseScratch(memory);
    scratch = taken;
    scratches.set(memory, scratch);
  }
  return scratch;
}

export function releaseScratch(memory: TableMemory): void {
  const scratch = scratches.get(memory);
  if (scratch === undefined) return;
  free(memory, scratch);
  scratches.delete(memory);
}

/** Memory of a bank that is counted as scratch: shares of tables are not the smaller for it. */
export function scratchBlock(bank: TableBank, bytes: number, name: string): number {
  const block = heapBlock(bank, bytes, name);
  Atomics.add(bank.views.u32, bank.heap / 4 + HEAP.scratchBytes, heapBlockBytes(bytes));
  return block;
}

function free({ banks }: TableMemory, { addresses, bytes }: Scratch): void {
  addresses.forEach((address, index) => {
    const { kernels, views, heap } = banks[index]!;
    kernels.heapFree(heap, address, bytes);
    Atomics.sub(views.u32, heap / 4 + HEAP.scratchBytes, heapBlockBytes(bytes));
  });
}

/** What a thread takes of a bank with its first table there. */
export function usualScratchBytes({ views, heap }: TableBank): number {
  const heapBytes = views.u32[heap / 4 + HEAP.end]! - heap;
  if (heapBytes < SMALL_HEAP_BYTES - HEAP_HEADER_BYTES) return SMALL_HEAP_SCRATCH_BYTES;
  return Math.min(BYTES_MAX, Math.max(BYTES_MIN, heapBytes / 32));
}
