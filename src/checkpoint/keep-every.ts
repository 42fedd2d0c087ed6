/** @file Keeps one checkpoint per so many hours for good, whatever rotation would delete (save_utils). */
import { statSync } from 'node:fs';
import { type Clock, systemClock } from '../base/clock.js';
import { INDEX_SUFFIX } from './names.js';

export class KeepEveryHours {
  readonly #ms: number;
  #nextMs: number;

  /** The first is one that is made `hours` from now. */
  constructor(hours: number, clock: Clock = systemClock) {
    this.#ms = hours * 3_600_000;
    this.#nextMs = clock.now() + this.#ms;
  }

  /**
   * Asked for a checkpoint that is about to be deleted: true keeps its files, and the next is due so many hours later.
   */
  spares(prefix: string): boolean {
    return this.sparesTime(statSync(`${prefix}${INDEX_SUFFIX}`, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  }

  /** The same by the time it was saved. */
  sparesTime(timeMs: number): boolean {
    if (timeMs <= this.#nextMs) return false;
    this.#nextMs += this.#ms;
    return true;
  }
}
