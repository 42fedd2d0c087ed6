/**
 * @file Logs of a training that cannot be written, on a full disk for one: told of once, and no reason to lose the
 * training. Checkpoints have their own way to say so.
 */
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';

export class LogTrouble {
  #isTold = false;

  /** Whether `write` was done. What it throws as ML_OUTPUT is a warning the first time in a row, all else goes on. */
  async attempt(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      this.#isTold = false;
      return true;
    } catch (error) {
      if (!(error instanceof MonolithError) || error.code !== 'ML_OUTPUT') throw error;
      const { file, reason } = error.fields;
      if (!this.#isTold) log.warn('a log cannot be written, training goes on without it', { file, reason });
      this.#isTold = true;
      return false;
    }
  }
}
