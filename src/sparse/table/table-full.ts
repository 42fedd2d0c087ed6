/**
 * @file What a table does when its memory is full: fail, remove what is expired, or go on without new ids.
 *
 * Steps of a session follow the overflow block (assembly/table/full.ts); calls of a HashTable follow `handleAll`.
 * Either way rows that are there are updated as ever.
 */
import { FEATURE_SLOTS } from '../../memory/filter-layout.js';
import {
  BUCKET_BYTES,
  OVERFLOW,
  OVERFLOW_SLOTS,
  overflowBytes,
  PARTITION,
  PARTITIONS,
  SLOT,
  TABLE,
  type WhenFull,
} from '../../memory/table-layout.js';
import type { TablePlan } from '../config/table-plan.js';
import { releaseShares, takeShares } from './partition-shares.js';
import { type BankTable, heapBlock, partitionWord } from './table-control.js';
import type { TablePart } from './table-grip.js';
import { evictWith } from './table-removal.js';

/**
 * Gives the table of one bank, which has `partitions` of its partitions, its overflow block, unless it fails when it is
 * full and `keepsIdsOut` is false.
 */
export function writeOverflow(
  table: BankTable,
  name: string,
  plan: TablePlan,
  whenFull: WhenFull,
  days: Uint32Array,
  keepsIdsOut: boolean,
  partitions: number,
): void {
  if (whenFull === 'fail' && !keepsIdsOut) return;
  const { bank, address } = table;
  const { u32 } = bank.views;
  const block = heapBlock(bank, overflowBytes(plan.rowBytes), `${name}/overflow`);
  u32[address / 4 + TABLE.overflow] = block;
  u32[block / 4 + OVERFLOW.passesOver] = whenFull === 'stop-admitting' ? 1 : 0;
  for (let p = 0; p < PARTITIONS; p++) {
    const slot = block + OVERFLOW_SLOTS + p * BUCKET_BYTES;
    u32[(slot + SLOT.row) / 4] = block + OVERFLOW_SLOTS + PARTITIONS * BUCKET_BYTES + p * plan.rowBytes;
  }
  if (whenFull !== 'fail') u32[block / 4 + OVERFLOW.shares] = takeShares(bank, partitions, name);
  if (whenFull !== 'evict-expired') return;
  const daysAt = heapBlock(bank, FEATURE_SLOTS * 4, `${name}/expire days`);
  u32.set(days, daysAt / 4);
  u32[block / 4 + OVERFLOW.days] = daysAt;
}

export function freeOverflow({ bank, address }: BankTable, plan: TablePlan): void {
  const { kernels, views, heap } = bank;
  const block = views.u32[address / 4 + TABLE.overflow]!;
  if (block === 0) return;
  if (views.u32[block / 4 + OVERFLOW.shares] !== 0) releaseShares(bank);
  const days = views.u32[block / 4 + OVERFLOW.days]!;
  if (days !== 0) kernels.heapFree(heap, days, FEATURE_SLOTS * 4);
  kernels.heapFree(heap, block, overflowBytes(plan.rowBytes));
  views.u32[address / 4 + TABLE.overflow] = 0;
}

/** What the overflow block says, for whoever did not make the table. */
export function whenFullOf({ bank, address }: BankTable): WhenFull {
  const block = bank.views.u32[address / 4 + TABLE.overflow]!;
  if (block === 0) return 'fail';
  if (bank.views.u32[block / 4 + OVERFLOW.passesOver] !== 0) return 'stop-admitting';
  return bank.views.u32[block / 4 + OVERFLOW.days] === 0 ? 'fail' : 'evict-expired';
}

/**
 * Removes what is expired, in the middle of a call: the scratch memory is in use, so the days are those of the block.
 */
export function evictFull(name: string, tables: readonly BankTable[], nowSec: number): number {
  const days = tables.map(({ bank, address }) => {
    const block = bank.views.u32[address / 4 + TABLE.overflow]!;
    return bank.views.u32[block / 4 + OVERFLOW.days]!;
  });
  return evictWith(name, tables, days, nowSec);
}

/** A call of a kernel for the ids of a part from `from` on; `gate` is the address of a byte for each of them, or 0. */
export type Handle = (from: number, gate: number) => number;

/**
 * Calls `handle` until every id of the part is handled, which means as many as `part.count`, or a negative result. When
 * the memory is full: `evict` is called once, and if that removes nothing, or the table does not evict, absent ids are
 * passed over by a table that stops admitting. Fewer than `part.count`: the table fails.
 */
export function handleAll(
  part: TablePart,
  whenFull: WhenFull,
  gate: number,
  evict: () => number,
  handle: Handle,
): number {
  let done = handle(0, gate);
  if (done < 0 || done === part.count || whenFull === 'fail') return done;
  if (whenFull === 'stop-admitting') passOver(part, done);
  else if (evict() === 0) return done;
  const rest = handle(done, whenFull === 'stop-admitting' ? part.bytes + done : gate === 0 ? 0 : gate + done);
  if (rest < 0) return rest;
  done += rest;
  return done;
}

/** Closes the gate of the part to the ids from `from` on that have no row, and counts them. */
function passOver(part: TablePart, from: number): void {
  const { bank, address, count, ids, bytes } = part;
  const present = bank.kernels.tableContains(address, ids + from * 8, count - from, bytes + from);
  Atomics.add(bank.views.u32, partitionWord(part, part.index) + PARTITION.passedOver, count - from - present);
}
