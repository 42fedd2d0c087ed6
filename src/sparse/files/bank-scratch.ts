/** @file Memory of a bank for the time of one save or restore, taken from the heap that its tables grow in. */
import { HEAP, HEAP_BLOCK_MAX } from '../../memory/table-layout.js';
import type { TableBank } from '../../runtime/tables/table-banks.js';

export class BankScratch {
  readonly bank: TableBank;
  readonly #blocks: { readonly at: number; readonly bytes: number }[] = [];

  constructor(bank: TableBank) {
    this.bank = bank;
  }

  /** Bytes that nobody has taken yet; what was given back is not counted. */
  get freeBytes(): number {
    const { views, heap } = this.bank;
    return views.u32[heap / 4 + HEAP.end]! - views.u32[heap / 4 + HEAP.top]!;
  }

  /** Bytes of the heap, of which what reads and writes files should take few. */
  get heapBytes(): number {
    const { views, heap } = this.bank;
    return views.u32[heap / 4 + HEAP.end]! - heap;
  }

  /** Address of `bytes` zeroed bytes, aligned to 64; 0 when the heap is full. */
  alloc(bytes: number): number {
    const { kernels, heap } = this.bank;
    const at = bytes > HEAP_BLOCK_MAX ? 0 : kernels.heapAlloc(heap, bytes) >>> 0;
    if (at !== 0) this.#blocks.push({ at, bytes });
    return at;
  }

  free(): void {
    const { kernels, heap } = this.bank;
    for (const { at, bytes } of this.#blocks.splice(0)) kernels.heapFree(heap, at, bytes);
  }
}
