/** @file A training whose parameters are pushed to who serves them: what realtime training adds to one. */
import { messageOf } from '../../base/errors.js';
import { log } from '../../base/log.js';
import type { RunnerConfig } from '../config/runner-config.js';
import type { CpuTrainingConfig } from '../config/training-config.js';
import type { EstimatorModel } from '../estimator/estimator-model.js';
import type { TrainHook } from '../hooks/hook.js';
import type { SyncBackend } from './native-task-context.js';
import { parameterSync } from './parameter-sync.js';

/** Seconds between two pushes. */
const SYNC_SECS = 10;

export interface SyncedTraining {
  readonly model: EstimatorModel;
  readonly modelDir: string;
  readonly backend: SyncBackend | undefined;
}

/** Calls `train` with the hook that pushes; without realtime training with none. */
export async function withParameterSync<T>(
  { enableRealtimeTraining, modelName }: CpuTrainingConfig,
  { model, modelDir, backend: given }: SyncedTraining,
  train: (hooks: readonly TrainHook[]) => Promise<T>,
): Promise<T> {
  if (!enableRealtimeTraining) return train([]);
  const sync = await parameterSync();
  const backend = given ?? sync.backend({ modelDir });
  await backend.start();
  try {
    await backend.subscribeModel(modelName);
    return await train([sync.hook(backend, 0, { model, everySecs: SYNC_SECS })]);
  } finally {
    try {
      await backend.stop();
    } catch (error) {
      log.warn('a sync backend could not be stopped', { reason: messageOf(error) });
    }
  }
}

/** The backend that the settings of a process ask for; undefined without realtime training. */
export async function backendOf(config: SyncSettings, modelDir: string): Promise<SyncBackend | undefined> {
  if (!config.enableRealtimeTraining) return undefined;
  const { bzid, baseName, unifiedServing } = config;
  return (await parameterSync()).backend({ modelDir, bzid, baseName, unifiedServing });
}

type SyncSettings = Pick<RunnerConfig, 'enableRealtimeTraining' | 'bzid' | 'baseName' | 'unifiedServing'>;
