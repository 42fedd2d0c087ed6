/**
 * @file Which store holds the tables of a training, by its config (the table of cpu_training), and what of it runs in
 * one process.
 */
import { MonolithError } from '../../base/errors.js';
import type { SlotTableOptions } from '../../feature/model/slot-tables.js';
import type { CpuTrainingConfig } from '../config/training-config.js';

/** The names are those of the classes of the reference. */
export const STORES = [
  'MultiHashTable',
  'MergedMultiTypeHashTable',
  'PartitionedHashTable',
  'DistributedMultiTypeHashTable',
  'MergedDistributedMultiTypeHashTable',
  'DistributedMultiTypeHashTableMpi',
  'MergedDistributedMultiTypeHashTableMpi',
] as const;
export type StoreName = (typeof STORES)[number];

export interface TableStore {
  readonly name: StoreName;
  /** Over how many servers or workers it is spread; 1 for tables of the process. */
  readonly shards: number;
}

type StoreConfig = Pick<
  CpuTrainingConfig,
  'enableFullSyncTraining' | 'enableFusedLayout' | 'useNativeMultiHashTable' | 'numPs' | 'numWorkers'
>;

export function storeOf(config: StoreConfig, { useGpuEmbTable = false } = {}): TableStore {
  const { enableFullSyncTraining: full, enableFusedLayout, useNativeMultiHashTable: multi, numPs, numWorkers } = config;
  const servers = Math.max(1, numPs);
  if (enableFusedLayout) return { name: 'PartitionedHashTable', shards: full && useGpuEmbTable ? numWorkers : servers };
  if (full) {
    const name = multi ? 'DistributedMultiTypeHashTableMpi' : 'MergedDistributedMultiTypeHashTableMpi';
    return { name, shards: numWorkers };
  }
  if (numPs === 0) return { name: multi ? 'MultiHashTable' : 'MergedMultiTypeHashTable', shards: 1 };
  return { name: multi ? 'DistributedMultiTypeHashTable' : 'MergedDistributedMultiTypeHashTable', shards: servers };
}

const FILTERS: readonly string[] = ['sliding_hash_filter', 'probabilistic_filter', 'no_filter'];

/** How the slots of a training become tables of its session; ML_UNSUPPORTED for those of other processes. */
export function tablesIn(config: CpuTrainingConfig, store: TableStore): SlotTableOptions {
  if (store.shards > 1 || config.numPs > 0) {
    const hint = 'with numPs 0 and numWorkers 1 the tables are in this process, on all of its threads';
    throw new MonolithError(
      'ML_UNSUPPORTED',
      { what: store.name, reason: 'tables of other processes are not in this version' },
      { hint },
    );
  }
  const { filterCapacity, filterSplitNum, filterType } = config;
  if (!FILTERS.includes(filterType)) throw new MonolithError('ML_FILTER_TYPE');
  if (filterType === 'probabilistic_filter') {
    throw new MonolithError('ML_UNSUPPORTED', {
      what: 'filterType probabilistic_filter',
      reason: 'steps of a session count sightings in a sliding_hash_filter',
    });
  }
  return {
    filterCapacity,
    filterSplitNum,
    filters: filterType !== 'no_filter',
    merge: config.useNativeMultiHashTable === false,
  };
}
