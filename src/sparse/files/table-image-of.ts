/**
 * @file What a hash table is in files.
 *
 * Beside TableImage, which threads make for themselves: they need not load all that a hash table is made of.
 */
import { HashTable } from '../table/hash-table.js';
import { expireDays } from '../table/table-removal.js';
import { type StoredTable, TableImage } from './stored-table.js';

export function tableImageOf(table: StoredTable | HashTable): TableImage {
  return new TableImage(table instanceof HashTable ? storedTable(table) : table);
}

/** Rows that are newer in another memory come back first. Who writes rows calls `changed` of the table. */
export function storedTable(table: HashTable): StoredTable {
  table.bringHome();
  const { name, memory, addresses, plan, config } = table;
  const { skipZeroEmbedding, slotExpireTimeConfig } = config.instance.tableConfig;
  return {
    name,
    memory,
    addresses,
    dumpSegments: plan.dump,
    skipZero: skipZeroEmbedding === true,
    expireDays: slotExpireTimeConfig === undefined ? null : expireDays(config.instance.tableConfig),
  };
}
