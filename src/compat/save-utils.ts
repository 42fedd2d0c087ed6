/** @file The names of native_training/save_utils that are here. */
import { assetDir, checkpointPrefix, stepOfPrefix } from '../checkpoint/names.js';

export { CheckpointSaverHook as NoFirstSaveCheckpointSaverHook } from '../train/hooks/checkpoint-saver.js';

/** Names of the files of checkpoints. */
export const SaveHelper = {
  /** `<basename>-<step>`. */
  getCkptPrefix: (basename: string, step: number): string => checkpointPrefix(basename, step),
  /** The folder of a checkpoint's tables and filters, with its trailing slash. */
  getCkptAssetDir: (ckptPrefix: string): string => assetDir(ckptPrefix),
  /** The integer after the last dash, 0 when there is none. */
  getGlobalStepValue: (ckptPrefix: string): number => stepOfPrefix(ckptPrefix),
} as const;
