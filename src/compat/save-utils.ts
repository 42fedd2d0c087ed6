/** @file The names of native_training/save_utils that are here. */
import { dirname } from 'node:path';
import { getCheckpointState } from '../checkpoint/checkpoint-state-reader.js';
import { assetDir, checkpointPrefix, stepOfPrefix } from '../checkpoint/names.js';

export { CheckpointSaverHook as NoFirstSaveCheckpointSaverHook } from '../train/hooks/checkpoint-saver.js';

/** Names of the files of checkpoints, and which of them `<dir>/checkpoint` lists. */
export class SaveHelper {
  readonly #basename: string;

  /** `basename` is what prefixes begin with, such as `runs/ffm/model.ckpt`. */
  constructor(basename: string) {
    this.#basename = basename;
  }

  /** `<basename>-<step>`. */
  static getCkptPrefix(basename: string, step: number): string {
    return checkpointPrefix(basename, step);
  }

  /** The folder of a checkpoint's tables and filters, with its trailing slash. */
  static getCkptAssetDir(ckptPrefix: string): string {
    return assetDir(ckptPrefix);
  }

  /** The integer after the last dash, 0 when there is none. */
  static getGlobalStepValue(ckptPrefix: string): number {
    return stepOfPrefix(ckptPrefix);
  }

  getCkptPrefix(step: number): string {
    return checkpointPrefix(this.#basename, step);
  }

  /** Steps of the checkpoints that the state lists, in its order. */
  async getExistingCheckpointSteps(): Promise<number[]> {
    const state = await getCheckpointState(dirname(this.#basename));
    return (state?.allModelCheckpointPaths ?? []).map(stepOfPrefix);
  }
}
