/**
 * @file Rows of a table one by one: as views in the order of their ids, as entry dumps, and put back.
 *
 * For checkpoints of small tables, tools and tests. Only one thread may be at the table meanwhile, but for lookupEntry.
 */
import { MonolithError } from '../../base/errors.js';
import { EntryDumpCodec } from '../../io/entry-dump.js';
import { mix64BigInt } from '../../memory/hash.js';
import { withLock } from '../../memory/lock.js';
import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  bucketsOfMask,
  idWordOf,
  PARTITION,
  PARTITIONS,
  PARTITIONS_LOG2,
  ROW_REMOVED,
  SLOT,
} from '../../memory/table-layout.js';
import type { TablePlan } from '../config/table-plan.js';
import { type BankTable, partitionWord, rowsOf } from './table-control.js';
import type { TablePart } from './table-grip.js';

/** A row in place: the arrays are views of shared memory. */
export interface TableRowView {
  readonly id: bigint;
  readonly lastUpdateSec: number;
  readonly weights: Float32Array;
  readonly state: Float32Array;
}

/** Bytes before the first weight in an EntryDump: the id and its tag. */
const ID_FIELD_BYTES = 9;
const RESTORE_CHUNK = 1024;

function rowAt({ bank }: BankTable, plan: TablePlan, slot: number): TableRowView {
  const { u32, i64, f32 } = bank.views;
  const row = u32[(slot + SLOT.row) / 4]! / 4;
  return {
    id: i64[idWordOf(slot)]!,
    lastUpdateSec: u32[(slot + SLOT.time) / 4]!,
    weights: f32.subarray(row, row + plan.dim),
    state: f32.subarray(row + plan.dim, row + plan.dim + plan.stateFloats),
  };
}

/** Every row, in the order of its id: the same for any history of inserts and any number of banks. */
export function* sortedRows(tables: readonly BankTable[], plan: TablePlan): Generator<TableRowView> {
  const lists = tables.map((table) => ({ table, slots: sortedSlots(table), next: 0 }));
  for (;;) {
    let least: { list: (typeof lists)[number]; id: bigint } | undefined;
    for (const list of lists) {
      if (list.next === list.slots.length) continue;
      const id = list.table.bank.views.i64[idWordOf(list.slots[list.next]!)]!;
      if (least === undefined || id < least.id) least = { list, id };
    }
    if (least === undefined) return;
    const { list } = least;
    yield rowAt(list.table, plan, list.slots[list.next++]!);
  }
}

function sortedSlots(table: BankTable): Uint32Array {
  const { u32, i64 } = table.bank.views;
  const slots = new Uint32Array(rowsOf(table));
  let found = 0;
  for (let p = 0; p < PARTITIONS; p++) {
    const partition = partitionWord(table, p);
    const index = u32[partition + PARTITION.index]!;
    if (index === 0) continue;
    const end = index + bucketsOfMask(u32[partition + PARTITION.mask]!) * BUCKET_BYTES;
    for (let bucket = index; bucket < end; bucket += BUCKET_BYTES) {
      for (let i = 0; i < BUCKET_SLOTS; i++) {
        const slot = bucket + i * 4;
        if (u32[(slot + SLOT.row) / 4]! > ROW_REMOVED) slots[found++] = slot;
      }
    }
  }
  return slots.sort((a, b) => (i64[idWordOf(a)]! < i64[idWordOf(b)]! ? -1 : 1));
}

/** Reads rows as serialized EntryDumps without their ids. */
export class EntryReader {
  readonly #plan: TablePlan;
  readonly #codec: EntryDumpCodec;
  readonly #bytes: Uint8Array;

  constructor(plan: TablePlan) {
    this.#plan = plan;
    this.#codec = new EntryDumpCodec(plan.dump);
    this.#bytes = new Uint8Array(this.#codec.maxBytes);
  }

  /** The entries of a part; the lock of its partition keeps each of them whole. */
  read(part: TablePart, entries: Uint8Array[]): void {
    const { bank, address, ids, words, bytes, count } = part;
    const { i64, i32, u32 } = bank.views;
    const slotAt = Math.ceil(bytes / 4) * 4;
    for (let i = 0; i < count; i++) {
      const partition = Number(mix64BigInt(i64[ids / 8 + i]!) >> BigInt(64 - PARTITIONS_LOG2));
      const lock = partitionWord(part, partition) + PARTITION.lock;
      entries[part.at(i)] = withLock(i32, lock, `a partition of table ${address}`, () => {
        bank.kernels.tableFind(address, ids + i * 8, 1, words, slotAt);
        const slot = u32[slotAt / 4]!;
        return slot === 0 ? new Uint8Array(0) : this.#encode(rowAt(part, this.#plan, slot));
      });
    }
  }

  #encode(row: TableRowView): Uint8Array {
    const size = this.#codec.encode(row, this.#bytes, new DataView(this.#bytes.buffer), 0);
    return this.#bytes.slice(ID_FIELD_BYTES, size);
  }
}

/** ML_CKPT_MODEL unless the row is one of the plan's. */
function checkRow(name: string, plan: TablePlan, { id, weights, state }: TableRowView): void {
  if (weights.length === plan.dim && (plan.serving || state.length === plan.stateFloats)) return;
  throw new MonolithError('ML_CKPT_MODEL', {
    dir: name,
    reason: `row ${id} has ${weights.length}+${state.length} floats, not ${plan.dim}+${plan.stateFloats}`,
  });
}

/**
 * Rows to be put into a table, checked and copied, some at a time: the source may hand out one object over and over.
 */
export function* rowChunks(
  name: string,
  plan: TablePlan,
  rows: Iterable<TableRowView>,
): Generator<readonly TableRowView[]> {
  let chunk: TableRowView[] = [];
  for (const row of rows) {
    checkRow(name, plan, row);
    chunk.push({ ...row, weights: row.weights.slice(), state: row.state.slice() });
    if (chunk.length < RESTORE_CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  yield chunk;
}

/** Puts the rows of a part in, over what is there; false when the heap is full. `rows` are all rows of the call. */
export function restorePart(part: TablePart, plan: TablePlan, rows: readonly TableRowView[]): boolean {
  const { bank, address, count, ids, floats, words } = part;
  const { u32, f32 } = bank.views;
  for (let i = 0; i < count; i++) u32[words / 4 + i] = rows[part.at(i)]!.lastUpdateSec;
  // Addresses of rows are put where floats go.
  if (bank.kernels.tableUpsert(address, ids, count, floats, words) < count) return false;
  for (let i = 0; i < count; i++) {
    const { weights, state } = rows[part.at(i)]!;
    const row = u32[floats / 4 + i]! / 4;
    f32.set(weights, row);
    // As words: half of an i64 may be a NaN, which floats need not carry over.
    u32.set(new Uint32Array(state.buffer, state.byteOffset, state.length), row + plan.dim);
  }
  return true;
}
