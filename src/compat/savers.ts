/** @file Savers, listeners of saves and restores: names of save_utils, hash_table_ops, hash_filter_ops and hooks. */
export { addMappingRules, autoAliasMap, type MappingRule } from '../checkpoint/alias-map.js';
export {
  PartialRecoverySaver,
  type PartialRecoverySaverOptions,
  type SaverSaveOptions,
} from '../checkpoint/partial-recovery-saver.js';
export {
  BarrierSaverListener,
  disableIteratorSaveRestore,
  SAVE_ACTION,
  WorkerCkptHelper,
} from '../train/savers/barrier-saver.js';
export { FidSlotCountSaverListener } from '../train/savers/ckpt-info.js';
export { CustomRestoreListener, type CustomRestoreOptions } from '../train/savers/custom-restore-listener.js';
export { AfterSaveListener, BeforeSaveListener } from '../train/savers/one-sided.js';
export {
  HashFilterCheckpointRestorerListener,
  HashTableCheckpointRestorerListener,
  HashTableRestorerSaverListener,
  MultiHashTableCheckpointRestorerListener,
  MultiHashTableRestorerSaverListener,
} from '../train/savers/table-restorers.js';
export {
  HashFilterCheckpointSaverListener,
  HashTableCheckpointSaverListener,
  MultiHashTableCheckpointSaverListener,
} from '../train/savers/table-savers.js';
