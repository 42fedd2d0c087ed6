/**
 * @file Tables one by one: `tables` of the package. Several tables as one, over servers or with layouts, are in
 * `monolith-ts/tables` only, which has these too.
 */
export type { Floats, Ids } from '../memory/given-arrays.js';
export type { WhenFull } from '../memory/table-layout.js';
export { sessionRegion } from '../runtime/session/session-handle.js';
export type { TableMemoryHandle } from '../runtime/tables/table-banks.js';
export {
  TableMemory,
  type TableMemoryOptions,
  type TablePolicy,
  type TableRegion,
} from '../runtime/tables/table-memory.js';
export { type CreateFilterOptions, createFilter, DummyFilter } from '../sparse/admission/admission-filter.js';
export { restoreFilter, saveFilter } from '../sparse/admission/filter-files.js';
export type { AdmissionFilter } from '../sparse/admission/filter-memory.js';
export { HashFilter } from '../sparse/admission/hash-filter.js';
export { ProbabilisticFilter } from '../sparse/admission/probabilistic-filter.js';
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
  restoreTable,
  saveTable,
} from '../sparse/files/on-demand.js';
export type { RestoredTable, RestoreTableOptions } from '../sparse/files/restore-table.js';
export type { SavedTable, SaveTableOptions } from '../sparse/files/save-table.js';
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
