/** @file When a training saves, and what its savers are told, by its config (cpu_training, create_save_hooks). */
import { MonolithError } from '../../base/errors.js';
import type { CpuTrainingConfig } from '../config/training-config.js';
import type { CheckpointSaverOptions } from '../hooks/checkpoint-saver.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';
import type { TideWindow } from '../hooks/tide.js';
import type { NativeTask } from './native-task.js';

/** Where neither steps nor seconds are given: only the end is saved. */
export const DEFAULT_SAVE_STEPS = 100_000_000;
/** One checkpoint of so many hours is kept for good. */
const KEEP_EVERY_N_HOURS = 24;

export interface SavePeriod {
  readonly everySteps?: number;
  readonly everySecs?: number;
}

type SavePeriods = Pick<
  CpuTrainingConfig,
  'saveCheckpointsSecs' | 'saveCheckpointsSteps' | 'denseOnlySaveCheckpointsSecs' | 'denseOnlySaveCheckpointsSteps'
>;

/** The period of full saves: that of the config, else of the task's parameters. ML_TASK when both units are given. */
export function savePeriod(config: SavePeriods, { p: { train } }: NativeTask): SavePeriod {
  const own = period(config.saveCheckpointsSecs, config.saveCheckpointsSteps);
  const asked = own ?? period(train.save_checkpoints_secs, train.save_checkpoints_steps);
  return asked ?? { everySteps: DEFAULT_SAVE_STEPS };
}

/** The period of saves without tables; undefined where there are none. */
export function denseOnlyPeriod(config: SavePeriods, { p: { train } }: NativeTask): SavePeriod | undefined {
  const own = period(config.denseOnlySaveCheckpointsSecs, config.denseOnlySaveCheckpointsSteps);
  return own ?? period(train.dense_only_save_checkpoints_secs, train.dense_only_save_checkpoints_steps);
}

function period(secs: number | null, steps: number | null): SavePeriod | undefined {
  if (secs !== null && steps !== null) {
    throw new MonolithError('ML_TASK', {
      reason: 'Can not provide both save_checkpoints_secs and save_checkpoints_steps.',
    });
  }
  if (secs !== null) return { everySecs: secs };
  return steps === null ? undefined : { everySteps: steps };
}

/** What the saver of everything is told beside its period. */
export function saverOptions(config: CpuTrainingConfig, listeners: readonly CheckpointSaverListener[]) {
  const tide = tideOf(config);
  const { tideSaveSecs } = config;
  return {
    listeners,
    keep: config.checkpointsMaxToKeep,
    keepCheckpointEveryNHours: KEEP_EVERY_N_HOURS,
    useNativeMultiHashTable: config.useNativeMultiHashTable ?? true,
    isRootNode: !config.enableSyncTraining || config.index === 0,
    ...(config.enableRealtimeTraining && { ignoreSaveErrors: true }),
    ...(tide && { tide, ...(tideSaveSecs !== null && { tideEverySecs: tideSaveSecs }) }),
  } satisfies Partial<CheckpointSaverOptions>;
}

/** The hours in which a job has the machines of others; undefined where the config does not say. */
export function tideOf(config: CpuTrainingConfig): TideWindow | undefined {
  const { tideStartHour: startHour, tideStartMinute, tideEndHour: endHour, tideEndMinute } = config;
  if (startHour === null || endHour === null) return undefined;
  return { startHour, startMinute: tideStartMinute ?? 0, endHour, endMinute: tideEndMinute ?? 0 };
}
