/// <reference types="node" preserve="true" />
/**
 * @file Embedding tables by themselves: `monolith-ts/tables`.
 *
 * A table here is used by hand: looked up, stepped, saved. In a model tables stand behind `ops.embeddingLookup`. The
 * package has single tables as `tables`; those made of several are here.
 */
export type { FidColumn, FidColumns } from '../feature/serving/fid-columns.js';
export { PartitionedHashTable, type PartitionedLookup } from '../feature/serving/partitioned-hash-table.js';
export { OUT_TYPE, POOLING_TYPE } from '../io/example-messages.js';
export {
  type LeasedPart,
  type LeasedTable,
  LocalRows,
  type PackedPart,
  type PackedTable,
  type RowLease,
  type RowStore,
} from '../runtime/session/row-store.js';
export type { DumpReport, ImportDumpOptions, ImportedTable } from '../sparse/files/import-dump.js';
export { featureStat, importTableDump, restoreMultiTable, saveMultiTable } from '../sparse/files/on-demand.js';
export type { RestoredMultiTable } from '../sparse/files/restore-multi-table.js';
export type { NamedTable, SavedMultiTable, SaveMultiTableOptions } from '../sparse/files/save-multi-table.js';
export { type AllToAll, LocalAllToAll } from '../sparse/many/all-to-all.js';
export { BankRows, type BankRowsOptions } from '../sparse/many/bank-rows.js';
export { DistributedHashTable } from '../sparse/many/distributed-hash-table.js';
export { DistributedMultiTypeHashTable } from '../sparse/many/distributed-multi-type-hash-table.js';
export {
  DistributedMultiTypeHashTableMpi,
  type SyncLookup,
} from '../sparse/many/distributed-multi-type-hash-table-mpi.js';
export { type FusedEmbeddings, type FusedIds, fusedApplyGradient, fusedLookup } from '../sparse/many/fused-lookup.js';
export { MergedMultiTypeHashTable, type MergedTable } from '../sparse/many/merged-multi-type-hash-table.js';
export { MultiHashTable, type MultiHashTableOptions } from '../sparse/many/multi-hash-table.js';
export {
  type BaseMultiTypeHashTable,
  MultiTypeHashTable,
  type SlotIds,
  type SlotRows,
  type SlotUpdates,
} from '../sparse/many/multi-type-hash-table.js';
export { type LookupGradient, lookupGradient } from '../sparse/steps/lookup-gradient.js';
export * from './one-table.js';
export * as sparse from './sparse.js';
