/** @file The config of a training that stays in this process, whatever cluster its settings were written for. */
import { getMonolithCheckpointState } from '../../checkpoint/monolith-state.js';
import type { CpuTrainingConfig } from '../config/training-config.js';
import { copyOf } from './serving-config.js';

/** The same settings with the tables in the process, and one worker. */
export function localConfig<T extends CpuTrainingConfig>(config: T): T {
  return Object.assign(copyOf(config), {
    numPs: 0,
    numWorkers: 1,
    index: 0,
    enableSyncTraining: false,
    enablePartialSyncTraining: false,
  });
}

/** A directory that was trained with single tables goes on with them, where the config leaves it open. */
export async function keepTableKind(config: CpuTrainingConfig, modelDir: string): Promise<void> {
  if (config.useNativeMultiHashTable !== null) return;
  const state = await getMonolithCheckpointState(modelDir);
  if (state === null) return;
  const { builtinHashTableType: type = 'UNKNOWN' } = state;
  if (type === 'UNKNOWN' || type === 'CUCKOO_HASH_MAP') config.useNativeMultiHashTable = false;
}
