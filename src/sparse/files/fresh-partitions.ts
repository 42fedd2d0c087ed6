/** @file Rows beside those of a table: the table works on them, and then keeps them or has its own back. */
import { MonolithError } from '../../base/errors.js';
import { PARTITION_BYTES, PARTITIONS } from '../../memory/table-layout.js';
import { BankScratch } from './bank-scratch.js';
import type { TableImage } from './stored-table.js';

/** Empty partitions that a table uses in place of its own, until they are kept or discarded. */
export class FreshPartitions {
  readonly replacesRows: boolean;
  readonly #image: TableImage;
  readonly #banks: readonly { readonly scratch: BankScratch; readonly fresh: number; readonly own: number }[];

  private constructor(image: TableImage, blocks: readonly { scratch: BankScratch; fresh: number }[]) {
    this.#image = image;
    this.replacesRows = image.size > 0;
    this.#banks = blocks.map(({ scratch, fresh }, bank) => {
      return { scratch, fresh, own: image.exchangePartitions(bank, fresh) };
    });
  }

  /** `begin`; ML_MEMORY when a heap has no room. */
  static beginOrFail(image: TableImage): FreshPartitions {
    const fresh = FreshPartitions.begin(image);
    if (fresh !== null) return fresh;
    const free = Math.min(...image.banks.map((bank) => new BankScratch(bank).freeBytes));
    const name = `rows beside those of table ${image.name}`;
    throw new MonolithError('ML_MEMORY', { name, bytes: PARTITIONS * PARTITION_BYTES, free });
  }

  /** Null when a heap has no room for them. */
  static begin(image: TableImage): FreshPartitions | null {
    const blocks = image.banks.map((bank) => {
      const scratch = new BankScratch(bank);
      return { scratch, fresh: scratch.alloc(PARTITIONS * PARTITION_BYTES) };
    });
    if (blocks.every(({ fresh }) => fresh !== 0)) return new FreshPartitions(image, blocks);
    for (const { scratch } of blocks) scratch.free();
    return null;
  }

  /** The table's own partitions get what the fresh ones hold; what they held goes back to the heap. */
  keep(): void {
    this.#banks.forEach(({ own }, bank) => {
      this.#image.exchangePartitions(bank, own);
    });
    this.#image.clear();
    for (const { scratch, fresh, own } of this.#banks) {
      scratch.bank.views.u8.copyWithin(own, fresh, fresh + PARTITIONS * PARTITION_BYTES);
      scratch.free();
    }
  }

  discard(): void {
    this.#image.clear();
    this.#banks.forEach(({ scratch, own }, bank) => {
      this.#image.exchangePartitions(bank, own);
      scratch.free();
    });
  }
}
