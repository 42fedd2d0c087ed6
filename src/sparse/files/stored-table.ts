/**
 * @file What saving and restoring needs to know of a table: where it is, and the shape of its rows on disk.
 *
 * All else is in the table's own words, so that any thread that joined the memories can save or load shards. Nobody
 * else may write to the table meanwhile.
 */
import { MonolithError } from '../../base/errors.js';
import { type DumpSegment, stateCountOf, weightCountOf } from '../../io/optimizer-dump.js';
import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  bucketsOfMask,
  OVERFLOW,
  PARTITION,
  PARTITION_BYTES,
  PARTITIONS,
  ROW_REMOVED,
  SLOT,
  slotLimit,
  TABLE,
  TABLE_FLAG,
} from '../../memory/table-layout.js';
import type { TableBank } from '../../runtime/tables/table-banks.js';
import type { TableMemory } from '../../runtime/tables/table-memory.js';
import { noteRemovals } from '../table/table-control.js';

export interface StoredTable {
  readonly name: string;
  readonly memory: TableMemory;
  /** The table's control block in each bank. */
  readonly addresses: readonly number[];
  /** Weights and optimizers of a row. A serving table keeps no optimizer state; its segments only count weights. */
  readonly dumpSegments: readonly DumpSegment[];
  /** A restore leaves rows out whose weights are all almost zero. */
  readonly skipZero: boolean;
  /** Days after which a row of each of the 32768 feature slots expires; null = 36500 for all. */
  readonly expireDays: Uint32Array | null;
}

/** Small indexes grow quickly enough by themselves. */
const RESERVE_ROWS_MIN = 256;

/** The table as its words tell it. */
export class TableImage {
  readonly table: StoredTable;
  readonly name: string;
  readonly dim: number;
  readonly stateFloats: number;
  readonly rowBytes: number;
  readonly isServing: boolean;

  constructor(table: StoredTable) {
    this.table = table;
    this.name = table.name;
    const words = this.#words(0);
    this.dim = words[TABLE.dim]!;
    this.stateFloats = words[TABLE.stateFloats]!;
    this.rowBytes = words[TABLE.rowBytes]!;
    this.isServing = (words[TABLE.flags]! & TABLE_FLAG.serving) !== 0;
    const { dumpSegments } = table;
    const fits = this.isServing || stateCountOf(dumpSegments) === this.stateFloats;
    if (weightCountOf(dumpSegments) !== this.dim || !fits) {
      throw new MonolithError('ML_INTERNAL', { reason: `rows of table ${table.name} are not as its dumps` });
    }
  }

  get banks(): readonly TableBank[] {
    return this.table.memory.banks;
  }

  bankOf(partition: number): number {
    return this.table.memory.bankOf(partition);
  }

  /** Rows of all partitions. */
  get size(): number {
    let rows = 0;
    for (let p = 0; p < PARTITIONS; p++) rows += this.rowsOf(p);
    return rows;
  }

  rowsOf(partition: number): number {
    return this.#partition(partition, PARTITION.rows);
  }

  bucketsOf(partition: number): number {
    return this.indexOf(partition) === 0 ? 0 : bucketsOfMask(this.#partition(partition, PARTITION.mask));
  }

  indexOf(partition: number): number {
    return this.#partition(partition, PARTITION.index);
  }

  /** Writes the slots of rows of a partition to `out`, in index order; returns how many. */
  scan(partition: number, out: Uint32Array): number {
    const { u32 } = this.banks[this.bankOf(partition)]!.views;
    const index = this.indexOf(partition);
    const end = index + this.bucketsOf(partition) * BUCKET_BYTES;
    let found = 0;
    for (let bucket = index; bucket < end; bucket += BUCKET_BYTES) {
      for (let slot = bucket; slot < bucket + BUCKET_SLOTS * 4; slot += 4) {
        if (u32[(slot + SLOT.row) >>> 2]! > ROW_REMOVED) out[found++] = slot;
      }
    }
    return found;
  }

  /** The newest update in Unix seconds. */
  get maxUpdateSec(): number {
    return Math.max(...this.banks.map((bank, index) => Number(Atomics.load(bank.views.i64, this.#maxWord(index)))));
  }

  raiseMaxUpdateSec(timeSec: number): void {
    if (timeSec <= this.maxUpdateSec) return;
    this.banks.forEach(({ views }, index) => {
      Atomics.store(views.i64, this.#maxWord(index), BigInt(timeSec));
    });
  }

  /** Gives all rows back to the heaps. */
  clear(): void {
    this.banks.forEach(({ kernels }, bank) => {
      kernels.tableClear(this.table.addresses[bank]!, 0, PARTITIONS);
    });
  }

  /** Makes indexes of empty partitions large enough for `rows` rows in all, evenly spread and a few more. */
  reserve(rows: number): void {
    const each = rows / PARTITIONS;
    // A partition with a share of its own grows as it did in training, and so needs no more than it did.
    if (each < RESERVE_ROWS_MIN || this.hasShares) return;
    for (let p = 0; p < PARTITIONS; p++) {
      const bank = this.bankOf(p);
      this.banks[bank]!.kernels.reserveRows(this.table.addresses[bank]!, p, Math.ceil(each + 4 * Math.sqrt(each)));
    }
  }

  /** Whether partitions grow in shares of the heap. */
  get hasShares(): boolean {
    const block = this.#words(0)[TABLE.overflow]!;
    return block !== 0 && this.banks[0]!.views.u32[block / 4 + OVERFLOW.shares] !== 0;
  }

  /** What the table takes of its memory is no longer a matter of ids and their order alone. */
  noteRemovals(): void {
    noteRemovals(this.banks.map((bank, index) => ({ bank, address: this.table.addresses[index]! })));
  }

  partitionsOf(bank: number): number {
    return this.#words(bank)[TABLE.partitions]!;
  }

  /** Makes the table use other partitions; returns the address of those it had. */
  exchangePartitions(bank: number, partitions: number): number {
    const before = this.partitionsOf(bank);
    this.#words(bank)[TABLE.partitions] = partitions;
    return before;
  }

  #words(bank: number): Uint32Array {
    const at = this.table.addresses[bank]! / 4;
    return this.table.memory.banks[bank]!.views.u32.subarray(at, at + 16);
  }

  #maxWord(bank: number): number {
    return (this.table.addresses[bank]! + TABLE.maxUpdateTime * 4) / 8;
  }

  #partition(partition: number, word: number): number {
    const bank = this.bankOf(partition);
    return this.banks[bank]!.views.u32[(this.partitionsOf(bank) + partition * PARTITION_BYTES) / 4 + word]!;
  }
}

/** Logarithm of the buckets that the index of a partition grows to with this many rows; files are in their order. */
export function bucketsLog2For(partition: number, rows: number): number {
  let log2 = 0;
  while (slotLimit(partition, 2 ** log2) < rows) log2++;
  return log2;
}
