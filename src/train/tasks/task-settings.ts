/** @file What an estimator of a task is told, by the config and the parameters of the task. */
import type { CpuTrainingConfig } from '../config/training-config.js';
import type { EstimatorOptions } from '../estimator/estimator-options.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';
import type { LocalRestoreOptions } from '../local-train-options.js';
import type { CpuTraining } from './cpu-training.js';
import type { NativeTaskParams } from './native-task.js';
import { savePeriod, saverOptions } from './saving-rules.js';

/** What a checkpoint of the model directory is chosen by, which is no field of a CpuTrainingConfig. */
type Chosen = Partial<Record<'restoreCkpt', string | null>>;

/** Models alone have the parameter. */
function summarises(params: NativeTaskParams): boolean {
  const name = 'enable_grads_and_vars_summary';
  return params.contain(name) && (params as NativeTaskParams & Record<typeof name, boolean>)[name];
}

/** Saves, restores, rows ahead, late pushes and summaries. */
export function settingsOfTask(
  training: CpuTraining,
  listeners: readonly CheckpointSaverListener[] = [],
  denseOnly: EstimatorOptions['denseOnly'] = undefined,
): EstimatorOptions {
  const { config, task } = training;
  const { keep, ...saver } = saverOptions(config, listeners);
  const { everySteps, everySecs } = savePeriod(config, task);
  return {
    batchSize: training.createInputFn('train')().batchSize,
    prefetch: config.embeddingPrefetchCapacity,
    postpush: config.enableEmbeddingPostpush,
    ...(everySteps !== undefined && { saveEverySteps: everySteps }),
    ...(everySecs !== undefined && { saveEverySecs: everySecs }),
    keep,
    saver,
    ...(denseOnly && { denseOnly }),
    restore: restoreOf(config),
    ckptInfo: config.enableModelCkptInfo,
    evictOnSave: config.featureEvictionOnSave,
    summaryEverySteps: config.saveSummarySteps,
    summariseGradients: summarises(task.p),
  };
}

/** How the newest checkpoint is taken over. An alias map that is found by names changes nothing where all names fit. */
function restoreOf(config: CpuTrainingConfig & Chosen): LocalRestoreOptions {
  const { restoreCkpt: ckpt = null, clearNn: clearNN, continueTraining } = config;
  if (clearNN) return { ckpt, clearNN, continueTraining };
  const { reloadAliasMap, enableAliasMapAutoGen } = config;
  const aliasMap = reloadAliasMap ?? (enableAliasMapAutoGen === false ? undefined : true);
  return { ckpt, ...(aliasMap !== undefined && { aliasMap }) };
}
