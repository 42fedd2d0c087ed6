/** @file Memory of a bank for the time of one save or restore, taken from the heap that its tables grow in. */
import type { TableBank } from '../../runtime/table-memory.js';

export class BankScratch {
  readonly bank: TableBank;
  readonly #blocks: { readonly at: number; readonly bytes: number }[] = [];

  constructor(bank: TableBank) {
    this.bank = bank;
  }

  /** Address of `bytes` zeroed bytes, aligned to 64; 0 when the heap is full. */
  alloc(bytes: number): number {
    const { kernels, heap } = this.bank;
    const at = kernels.heapAlloc(heap, bytes) >>> 0;
    if (at !== 0) this.#blocks.push({ at, bytes });
    return at;
  }

  free(): void {
    const { kernels, heap } = this.bank;
    for (const { at, bytes } of this.#blocks.splice(0)) kernels.heapFree(heap, at, bytes);
  }
}
