/**
 * @file Removal of many rows: those that expired, or all. A partition is locked while it is worked on, so other threads
 * may go on with the rest of the table.
 */
import { MonolithError } from '../../base/errors.js';
import { valueOr } from '../../io/message.js';
import { FEATURE_SLOTS } from '../../memory/filter-layout.js';
import { withLock } from '../../memory/lock.js';
import { PARTITION, PARTITIONS } from '../../memory/table-layout.js';
import type { TableMemory } from '../../runtime/tables/table-memory.js';
import { type EmbeddingHashTableConfig, SlotExpireTimeConfigMessage } from '../config/config-messages.js';
import { TIME_MAX } from './table-checks.js';
import { type BankTable, noteRemovals, partitionWord } from './table-control.js';
import { scratchOf } from './table-scratch.js';

/** Days that ids of each feature slot live without an update. */
export function expireDays({ slotExpireTimeConfig = {} }: EmbeddingHashTableConfig): Uint32Array {
  const fallback = valueOr(SlotExpireTimeConfigMessage, slotExpireTimeConfig, 'defaultExpireTime');
  const days = new Uint32Array(FEATURE_SLOTS).fill(fallback);
  for (const { slot: featureSlot = 0, expireTime = 0 } of slotExpireTimeConfig.slotExpireTimes ?? []) {
    if (!(Number.isInteger(featureSlot) && featureSlot >= 0 && featureSlot < FEATURE_SLOTS))
      throw new MonolithError('ML_FID_SLOT', { limit: FEATURE_SLOTS, slot: featureSlot });
    days[featureSlot] = expireTime;
  }
  return days;
}

/** Removes what is expired at `nowSec`; returns how many rows that were. */
export function evictTables(
  name: string,
  memory: TableMemory,
  tables: readonly BankTable[],
  days: Uint32Array,
  nowSec: number,
): number {
  const { addresses } = scratchOf(memory, days.byteLength);
  tables.forEach(({ bank }, index) => {
    bank.views.u32.set(days, addresses[index]! / 4);
  });
  return evictWith(name, tables, addresses, nowSec);
}

/** evictTables with the days of all feature slots at an address of each bank. */
export function evictWith(name: string, tables: readonly BankTable[], days: readonly number[], nowSec: number): number {
  const now = Math.min(Math.max(Math.floor(nowSec), 0), TIME_MAX);
  let removed = 0;
  tables.forEach((table, index) => {
    const { bank, address } = table;
    eachPartition(name, table, index, tables.length, (p) => {
      removed += bank.kernels.tableEvict(address, p, p + 1, now, days[index]!);
    });
  });
  if (removed > 0) noteRemovals(tables);
  return removed;
}

export function clearTables(name: string, tables: readonly BankTable[]): void {
  noteRemovals(tables);
  tables.forEach((table, index) => {
    eachPartition(name, table, index, tables.length, (p) => table.bank.kernels.tableClear(table.address, p, p + 1));
  });
}

/** Partition p is in bank p % banks. */
function eachPartition(
  name: string,
  table: BankTable,
  index: number,
  banks: number,
  work: (partition: number) => void,
): void {
  for (let p = index; p < PARTITIONS; p += banks) {
    const lock = partitionWord(table, p) + PARTITION.lock;
    withLock(table.bank.views.i32, lock, `partition ${p} of table ${name}`, () => work(p));
  }
}
