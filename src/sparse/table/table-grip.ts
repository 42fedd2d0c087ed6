/**
 * @file One thread's grip on a table: memory of its own in every bank, through which ids and rows go to the kernels.
 *
 * With one bank a chunk of ids is copied as it is. With more, the ids of a chunk are dealt out by the top bits of their
 * hash, which name the partition and so the bank; within a bank they keep their order, and an id is always in one bank.
 */
import { MonolithError } from '../../base/errors.js';
import { mix64, partitionOfHash } from '../../memory/hash.js';
import { PARTITIONS } from '../../memory/table-layout.js';
import type { TableBank } from '../../runtime/tables/table-banks.js';
import type { TableMemory } from '../../runtime/tables/table-memory.js';
import type { BankTable } from './table-control.js';
import { releaseScratch, type Scratch, scratchOf } from './table-scratch.js';

/** Ids that a chunk has at the least: what is copied begins at multiples of it. */
const CHUNK_MIN = 16;
/** An id, a word and a byte. */
const ID_BYTES = 8 + 4 + 1;

/** The ids of one chunk that are in one bank, copied there. Addresses are of that bank. */
export interface TablePart {
  readonly bank: TableBank;
  readonly address: number;
  /** Index of the bank. */
  readonly index: number;
  readonly count: number;
  readonly ids: number;
  /** Room for `dim` floats per id. */
  readonly floats: number;
  /** Room for a word per id, and for a byte per id. */
  readonly words: number;
  readonly bytes: number;
  /** Position of the i-th id among those the caller gave. */
  at(i: number): number;
  putRows(values: Float32Array): void;
  takeRows(values: Float32Array): void;
  putBytes(values: Uint8Array): void;
  takeBytes(values: Uint8Array): void;
  takeWords(values: Int32Array): void;
}

export class TableGrip {
  readonly #memory: TableMemory;
  readonly #tables: readonly BankTable[];
  readonly #dim: number;
  readonly #idBytes: number;
  readonly #hash = new Uint32Array(2);
  #parts: readonly BankPart[] = [];
  #scratch: Scratch | undefined;
  #closed: string | undefined;

  constructor(memory: TableMemory, tables: readonly BankTable[], dim: number) {
    this.#memory = memory;
    this.#tables = tables;
    this.#dim = dim;
    this.#idBytes = ID_BYTES + dim * 4;
    this.#bankParts();
  }

  /** The table in each bank, until it is closed. */
  get tables(): readonly BankTable[] {
    this.#refuseClosed();
    return this.#tables;
  }

  /** Calls `work` for the ids of each bank, a chunk at a time. `work` may end it all by throwing. */
  each(ids: BigInt64Array, work: (part: TablePart) => void): void {
    const parts = this.#bankParts();
    const { capacity } = parts[0]!;
    for (let from = 0; from < ids.length; from += capacity) {
      const chunk = ids.subarray(from, from + capacity);
      if (parts.length === 1) parts[0]!.copyAll(chunk, from);
      else this.#deal(parts, chunk, from);
      for (const part of parts) if (part.count > 0) work(part);
    }
  }

  #deal(parts: readonly BankPart[], ids: BigInt64Array, from: number): void {
    const lanes = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2);
    for (const part of parts) part.begin(from);
    for (let i = 0; i < ids.length; i++) {
      mix64(lanes[2 * i]!, lanes[2 * i + 1]!, this.#hash);
      const partition = partitionOfHash(this.#hash[1]!, PARTITIONS);
      parts[this.#memory.bankOf(partition)]!.add(ids[i]!, i);
    }
  }

  /** The scratch memory may have moved since the last call: another table needed more. */
  #bankParts(): readonly BankPart[] {
    this.#refuseClosed();
    const scratch = scratchOf(this.#memory, this.#idBytes * CHUNK_MIN);
    if (scratch !== this.#scratch) {
      this.#scratch = scratch;
      const { bytes, addresses } = scratch;
      const capacity = Math.floor(bytes / this.#idBytes / CHUNK_MIN) * CHUNK_MIN;
      this.#parts = this.#tables.map(
        (table, index) => new BankPart(table, index, this.#dim, { at: addresses[index]!, capacity }),
      );
    }
    return this.#parts;
  }

  /** The end of the table: whoever comes after is told by ML_CLOSED. */
  close(table: string): void {
    this.#refuseClosed();
    this.release();
    this.#closed = `table ${table}`;
  }

  #refuseClosed(): void {
    if (this.#closed !== undefined) throw new MonolithError('ML_CLOSED', { what: this.#closed });
  }

  /** Gives back the scratch memory of all tables this thread holds in the memory. */
  release(): void {
    releaseScratch(this.#memory);
  }
}

class BankPart implements TablePart {
  readonly bank: TableBank;
  readonly address: number;
  readonly index: number;
  readonly ids: number;
  readonly floats: number;
  readonly words: number;
  readonly bytes: number;
  readonly capacity: number;
  count = 0;
  readonly #dim: number;
  readonly #positions: Uint32Array;
  #from = 0;
  #dealt = false;

  constructor(table: BankTable, index: number, dim: number, { at, capacity }: { at: number; capacity: number }) {
    this.bank = table.bank;
    this.address = table.address;
    this.index = index;
    this.capacity = capacity;
    this.#dim = dim;
    this.#positions = new Uint32Array(capacity);
    this.ids = at;
    this.floats = this.ids + capacity * 8;
    this.words = this.floats + capacity * dim * 4;
    this.bytes = this.words + capacity * 4;
  }

  copyAll(ids: BigInt64Array, from: number): void {
    this.bank.views.i64.set(ids, this.ids / 8);
    this.count = ids.length;
    this.#from = from;
    this.#dealt = false;
  }

  begin(from: number): void {
    this.count = 0;
    this.#from = from;
    this.#dealt = true;
  }

  add(id: bigint, position: number): void {
    this.bank.views.i64[this.ids / 8 + this.count] = id;
    this.#positions[this.count++] = position;
  }

  at(i: number): number {
    return this.#from + (this.#dealt ? this.#positions[i]! : i);
  }

  putRows(values: Float32Array): void {
    this.#put(this.bank.views.f32, this.floats / 4, values, this.#dim);
  }

  takeRows(values: Float32Array): void {
    this.#take(this.bank.views.f32, this.floats / 4, values, this.#dim);
  }

  putBytes(values: Uint8Array): void {
    this.#put(this.bank.views.u8, this.bytes, values, 1);
  }

  takeBytes(values: Uint8Array): void {
    this.#take(this.bank.views.u8, this.bytes, values, 1);
  }

  takeWords(values: Int32Array): void {
    this.#take(this.bank.views.i32, this.words / 4, values, 1);
  }

  #put<T extends Float32Array | Uint8Array>(memory: T, at: number, values: T, width: number): void {
    if (!this.#dealt) {
      memory.set(values.subarray(this.#from * width, (this.#from + this.count) * width), at);
      return;
    }
    for (let i = 0; i < this.count; i++) {
      const from = this.at(i) * width;
      for (let c = 0; c < width; c++) memory[at + i * width + c] = values[from + c]!;
    }
  }

  #take<T extends Float32Array | Uint8Array | Int32Array>(memory: T, at: number, values: T, width: number): void {
    if (!this.#dealt) {
      values.set(memory.subarray(at, at + this.count * width), this.#from * width);
      return;
    }
    for (let i = 0; i < this.count; i++) {
      const to = this.at(i) * width;
      for (let c = 0; c < width; c++) values[to + c] = memory[at + i * width + c]!;
    }
  }
}
