/**
 * @file Columns of decoded rows and the way from them into a table.
 *
 * The columns are in the first bank. With more banks, rows are grouped by partition and copied to the bank that owns
 * it. Training rows are taken as they are; serving rows are encoded by the table.
 */
import { MonolithError } from '../../base/errors.js';
import type { EntryRow } from '../../io/entry-dump.js';
import { DUMP_SCRATCH_BYTES } from '../../memory/dump-layout.js';
import { mix64BigInt } from '../../memory/hash.js';
import { PARTITIONS, PARTITIONS_LOG2, SLOT } from '../../memory/table-layout.js';
import { isZeroRow } from '../table/linalg.js';
import { BankScratch } from './bank-scratch.js';
import type { TableImage } from './stored-table.js';

/** Memory for rows on their way into one bank. */
interface Lane {
  readonly scratch: BankScratch;
  readonly address: number;
  readonly ids: number;
  readonly times: number;
  readonly rows: number;
  /** Words for kernels: rows or slots of a column, and their own scratch. */
  readonly work: number;
}

export class RowSink {
  readonly ids: number;
  readonly times: number;
  readonly rows: number;
  /** Bytes from row to row. */
  readonly stride: number;
  readonly #image: TableImage;
  readonly #capacity: number;
  readonly #load: boolean;
  readonly #lanes: readonly Lane[];
  /** Order and offsets of rows by partition, when there are several banks. */
  readonly #order: number;

  constructor(image: TableImage, scratch: BankScratch, { rows, load }: { rows: number; load: boolean }) {
    this.#image = image;
    this.#capacity = rows;
    this.#load = load;
    this.stride = image.isServing ? Math.ceil(image.dim / 4) * 16 : image.rowBytes;
    const first = this.#makeLane(scratch, 0);
    const others = image.banks.slice(1).map((bank, index) => this.#makeLane(new BankScratch(bank), index + 1));
    this.#lanes = [first, ...others];
    this.#order = this.#lanes.length === 1 ? 0 : this.#alloc(scratch, rows * 4 + (PARTITIONS + 1) * 4);
    this.ids = first.ids;
    this.times = first.times;
    this.rows = first.rows;
  }

  /** Puts a row of the codec at position `index` of the columns; of its weights, the first `weights` are given. */
  set(index: number, row: EntryRow, weights: number): void {
    const { dim, stateFloats, isServing } = this.#image;
    const lane = this.#lanes[0]!;
    const { views, kernels } = lane.scratch.bank;
    if (row.lastUpdateSec > 0xffffffff) {
      const reason = `${row.lastUpdateSec} does not fit the 32 bits a table keeps`;
      throw new MonolithError('ML_PROTO', { field: 'EntryDump.last_update_ts_sec', offset: 0, reason });
    }
    views.i64[this.ids / 8 + index] = row.id;
    views.u32[this.times / 4 + index] = row.lastUpdateSec;
    const at = (this.rows + index * this.stride) / 4;
    if (weights < dim) {
      if (isServing) views.f32.fill(0, at, at + dim);
      else if (!this.#copyRow(row.id, at)) kernels.tableInitRow(lane.address, at * 4, row.id);
    }
    views.f32.set(row.weights.subarray(0, weights), at);
    if (!isServing) {
      // As words: floats that are NaN keep their bits only so.
      const words = new Uint32Array(row.state.buffer, row.state.byteOffset, stateFloats);
      views.u32.set(words, at + dim);
    }
  }

  /** Puts the first `count` rows of the columns into the table. */
  put(count: number): void {
    if (!this.#load || count === 0) return;
    if (this.#lanes.length === 1) this.#putLane(this.#lanes[0]!, count);
    else this.#route(count);
  }

  close(): void {
    for (const { scratch } of this.#lanes.slice(1)) scratch.free();
  }

  #makeLane(scratch: BankScratch, bank: number): Lane {
    const work = Math.max(DUMP_SCRATCH_BYTES, this.#capacity * 8);
    return {
      scratch,
      address: this.#image.table.addresses[bank]!,
      ids: this.#alloc(scratch, this.#capacity * 8),
      times: this.#alloc(scratch, this.#capacity * 4),
      rows: this.#alloc(scratch, this.#capacity * this.stride),
      work: this.#alloc(scratch, work),
    };
  }

  #alloc(scratch: BankScratch, bytes: number): number {
    const at = scratch.alloc(bytes);
    if (at === 0) throw this.#full(bytes);
    return at;
  }

  /** The row the table has for `id` into the columns at word `at`; false when it has none. */
  #copyRow(id: bigint, at: number): boolean {
    const partition = Number(mix64BigInt(id) >> BigInt(64 - PARTITIONS_LOG2));
    const lane = this.#lanes[this.#image.bankOf(partition)]!;
    const { views, kernels } = lane.scratch.bank;
    // The lane's own ids may hold rows that wait; the work words are free, and 8-aligned.
    const [idAt, rowAt] = [lane.work, lane.work + 8];
    views.i64[idAt / 8] = id;
    if (kernels.tableFind(lane.address, idAt, 1, rowAt, 0) === 0) return false;
    const row = views.u32[rowAt / 4]! / 4;
    this.#lanes[0]!.scratch.bank.views.u32.set(views.u32.subarray(row, row + this.stride / 4), at);
    return true;
  }

  /** Copies each row to the bank of its partition, then lets the banks take theirs. */
  #route(count: number): void {
    const first = this.#lanes[0]!;
    const { views, kernels } = first.scratch.bank;
    const offsets = this.#order + this.#capacity * 4;
    kernels.partitionByHash(this.ids, count, PARTITIONS, this.#order, offsets);
    // The first bank's rows are gathered last, in a copy: its columns are what the others are copied from.
    const source = {
      ids: views.i64.slice(this.ids / 8, this.ids / 8 + count),
      times: views.u32.slice(this.times / 4, this.times / 4 + count),
      rows: views.u32.slice(this.rows / 4, (this.rows + count * this.stride) / 4),
    };
    const words = this.stride / 4;
    const filled = this.#lanes.map(() => 0);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const bank = this.#image.bankOf(partition);
      const lane = this.#lanes[bank]!;
      const target = lane.scratch.bank.views;
      const end = views.u32[offsets / 4 + partition + 1]!;
      for (let k = views.u32[offsets / 4 + partition]!; k < end; k++) {
        const from = views.u32[this.#order / 4 + k]!;
        const to = filled[bank]!++;
        target.i64[lane.ids / 8 + to] = source.ids[from]!;
        target.u32[lane.times / 4 + to] = source.times[from]!;
        target.u32.set(source.rows.subarray(from * words, (from + 1) * words), lane.rows / 4 + to * words);
      }
    }
    this.#lanes.forEach((lane, bank) => {
      this.#putLane(lane, filled[bank]!);
    });
  }

  #putLane(lane: Lane, count: number): void {
    if (count === 0) return;
    const kept = this.#image.table.skipZero ? this.#dropZeros(lane, count) : count;
    if (this.#image.isServing) this.#assign(lane, kept);
    else {
      const { kernels } = lane.scratch.bank;
      const { address, ids, times, rows, work } = lane;
      if (kernels.loadRows(address, ids, times, rows, this.stride, kept, work) < kept)
        throw this.#full(kept * this.stride);
    }
  }

  /** Moves the rows to the front whose squared length is more than almost zero. */
  #dropZeros(lane: Lane, count: number): number {
    const { f32, i64, u32 } = lane.scratch.bank.views;
    const words = this.stride / 4;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const row = lane.rows / 4 + i * words;
      if (isZeroRow(f32.subarray(row, row + this.#image.dim))) continue;
      i64[lane.ids / 8 + kept] = i64[lane.ids / 8 + i]!;
      u32[lane.times / 4 + kept] = u32[lane.times / 4 + i]!;
      u32.copyWithin(lane.rows / 4 + kept * words, row, row + words);
      kept++;
    }
    return kept;
  }

  /** Serving rows: the table encodes the weights, then each row gets its own time. */
  #assign(lane: Lane, count: number): void {
    const { kernels, views } = lane.scratch.bank;
    const { address, ids, times, rows, work } = lane;
    if (kernels.tableAssign(address, ids, count, rows, this.stride / 4, 0, 0, 0) < count)
      throw this.#full(count * this.stride);
    const slots = work + this.#capacity * 4;
    kernels.tableFind(address, ids, count, work, slots);
    for (let i = 0; i < count; i++) {
      views.u32[(views.u32[slots / 4 + i]! + SLOT.time) / 4] = views.u32[times / 4 + i]!;
    }
  }

  #full(bytes: number): MonolithError {
    const name = `table ${this.#image.name}`;
    return new MonolithError(
      'ML_MEMORY',
      { name, bytes, free: 'too few' },
      { hint: 'give the tables more memory, or more banks' },
    );
  }
}
