/** @file The config and the tables of a task when it is exported, which follow from those it is trained with. */

import { ENTRY_TYPE } from '../../sparse/config/config-messages.js';
import { HashTableConfigInstance } from '../../sparse/config/table-config.js';
import type { CpuTrainingConfig } from '../config/training-config.js';
import type { FeatureConfigs } from './collect-features.js';

/** A copy of a record: what is changed in one is not changed in the other. */
export function copyOf<T extends CpuTrainingConfig>(config: T): T {
  const copy = Object.create(Object.getPrototypeOf(config)) as T;
  return Object.assign(copy, config);
}

/**
 * Nothing is read ahead, pushed late or counted; workers in step become as many parameter servers, unless there are
 * parameter servers already.
 */
export function servingConfig<T extends CpuTrainingConfig>(config: T): T {
  const serving = copyOf(config);
  Object.assign(serving, {
    embeddingPrefetchCapacity: 0,
    enableEmbeddingPostpush: false,
    enableVariablePrefetch: false,
    enableVariablePostpush: false,
    reorderFidsInDataPipeline: false,
    enableModelCkptInfo: false,
  });
  serving.numPs = servingServers(config);
  serving.enableSyncTraining = false;
  serving.enablePartialSyncTraining = false;
  return serving;
}

/** Parameter servers of a model that is served. */
export function servingServers({ enableSyncTraining, enablePartialSyncTraining, numPs, numWorkers }: Servers): number {
  return enableSyncTraining && !enablePartialSyncTraining ? numWorkers : numPs;
}

type Servers = Pick<CpuTrainingConfig, 'enableSyncTraining' | 'enablePartialSyncTraining' | 'numPs' | 'numWorkers'>;

/** Tables that keep compressed weights and nothing else. */
export function servingFeatureConfigs(features: FeatureConfigs, config: CpuTrainingConfig): FeatureConfigs {
  const skipZeroEmbedding = config.skipZeroEmbeddingWhenServing;
  const served = Object.entries(features.featureToConfig).map(([name, { tableConfig, learningRateFns, ...rest }]) => {
    const { entryConfig } = tableConfig;
    const serving = {
      ...tableConfig,
      entryConfig: { ...entryConfig, entryType: ENTRY_TYPE.serving },
      ...(skipZeroEmbedding && { skipZeroEmbedding }),
      cuckoo: {},
    };
    return [name, new HashTableConfigInstance(serving, learningRateFns, rest)] as const;
  });
  return { ...features, featureToConfig: Object.fromEntries(served) };
}
