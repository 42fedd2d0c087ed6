/**
 * @file What people ask of a training under way: a save, an evaluation. It is done after the group of steps at hand,
 * by the hook that does the same on schedule.
 */
import type { RunContext, TrainHook } from './hook.js';

const ASKED = ['save', 'evaluate'] as const;
export type Asked = (typeof ASKED)[number];

/**
 * Asks for things while `train` runs.
 *
 * ```ts
 * const asks = new TrainAsks();
 * process.on('SIGUSR2', () => asks.ask('save'));
 * await estimator.train(data, { epochs: 5, asks });
 * ```
 */
export class TrainAsks {
  readonly #asked = new Set<Asked>();

  /** Asked for twice before it is done, it is done once. */
  ask(what: Asked): void {
    this.#asked.add(what);
  }

  /** Whether it was asked for since the last call: whoever calls does it. */
  take(what: Asked): boolean {
    return this.#asked.delete(what);
  }
}

/** Saves when it is asked to. */
export class AskedSaveHook implements TrainHook {
  readonly #asks: TrainAsks;
  readonly #save: (context: RunContext) => Promise<void>;

  constructor(asks: TrainAsks, save: (context: RunContext) => Promise<void>) {
    this.#asks = asks;
    this.#save = save;
  }

  async poll(context: RunContext): Promise<void> {
    if (this.#asks.take('save')) await this.#save(context);
  }
}
