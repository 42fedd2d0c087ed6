/// <reference types="node" preserve="true" />
/**
 * @file Embedding tables by themselves: `monolith-ts/tables`, and `tables` of the package.
 *
 * A table here is used by hand: looked up, stepped, saved. In a model tables stand behind `ops.embeddingLookup`.
 */

export type { FidColumn, FidColumns } from '../feature/serving/fid-columns.js';
export { PartitionedHashTable, type PartitionedLookup } from '../feature/serving/partitioned-hash-table.js';
export { OUT_TYPE, POOLING_TYPE } from '../io/example-messages.js';
export type { Floats, Ids } from '../memory/given-arrays.js';
export type { WhenFull } from '../memory/table-layout.js';
export { sessionRegion } from '../runtime/session/session-core.js';
export {
  TableMemory,
  type TableMemoryHandle,
  type TableMemoryOptions,
  type TablePolicy,
  type TableRegion,
} from '../runtime/tables/table-memory.js';
export {
  type AdmissionFilter,
  type CreateFilterOptions,
  createFilter,
  DummyFilter,
  HashFilter,
  ProbabilisticFilter,
} from '../sparse/admission/admission-filter.js';
export { restoreFilter, saveFilter } from '../sparse/admission/filter-files.js';
export { extractSlot } from '../sparse/config/extract-slot.js';
export { fidV1, fidV2, slotOfFidV1, slotOfFidV2 } from '../sparse/config/fid.js';
export {
  defineTable,
  type SegmentOptions,
  type TableConfig,
  type TableDefinition,
} from '../sparse/config/table-config.js';
export { rowsThatFit, type TableShape, type TableSize, tableSize } from '../sparse/config/table-size.js';
export { type IterateOptions, iterateTable, type TablePortion } from '../sparse/files/iterate-table.js';
export {
  featureStat,
  restoreMultiTable,
  restoreTable,
  saveMultiTable,
  saveTable,
} from '../sparse/files/on-demand.js';
export type { RestoredMultiTable } from '../sparse/files/restore-multi-table.js';
export type { RestoredTable, RestoreTableOptions } from '../sparse/files/restore-table.js';
export type { NamedTable, SavedMultiTable, SaveMultiTableOptions } from '../sparse/files/save-multi-table.js';
export type { SavedTable, SaveTableOptions } from '../sparse/files/save-table.js';
export { type AllToAll, LocalAllToAll } from '../sparse/many/all-to-all.js';
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
export type { EmbeddingTable, IdArray, OptimizeOptions, UpdateOptions } from '../sparse/table/embedding-table.js';
export {
  type AttachOptions,
  HashTable,
  type HashTableHandle,
  type TableOptions,
  type TableRowView,
} from '../sparse/table/hash-table.js';
export { PeriodicEviction, type PeriodicEvictionOptions } from '../sparse/table/periodic-eviction.js';
export {
  TouchedKeySet,
  type TouchedKeySetHandle,
  type TouchedKeySetOptions,
} from '../sparse/table/touched-key-set.js';
export { TouchedPairSet, type TouchedPairs } from '../sparse/table/touched-pair-set.js';
export type { GateOptions, TouchedKeys, TouchRecorder } from '../sparse/table/update-gate.js';
export * as sparse from './sparse.js';
