/** @file Whether a session that was lost, which whoever lost it says by ML_ABORTED, is to be made again. */
import { MonolithError } from '../base/errors.js';

/** How often a session is made again without getting any further. */
const RECREATIONS_MAX = 3;

export class LostSessions {
  #reached: number;
  #without = 0;

  /** `step` is the global step at the start. */
  constructor(step: number) {
    this.#reached = step;
  }

  /** Whether to go on after `error` at a global step; not when sessions are lost again and again at the same one. */
  mayGoOn(error: unknown, step: number): boolean {
    if (!(error instanceof MonolithError) || error.code !== 'ML_ABORTED') return false;
    this.#without = step > this.#reached ? 1 : this.#without + 1;
    this.#reached = Math.max(this.#reached, step);
    return this.#without <= RECREATIONS_MAX;
  }
}
