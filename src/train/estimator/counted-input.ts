/** @file The input of a training: it counts examples, knows whether the data ended, and lets a signal end a wait. */
import { MonolithError } from '../../base/errors.js';
import { type InputState, type Positioned, positionThrough } from '../../base/input-state.js';
import type { BatchInput } from '../../data/batch-source.js';
import type { InputBegin } from '../../data/input-place.js';
import { BATCH } from '../../memory/batch.js';
import type { Session } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import type { TrainInput } from '../train-input.js';

/** Batches that can be taken and not trained on yet, with room to spare. */
const UNUSED_MAX = 1024;
/** Source of the end of input that is none of the data. */
const STOPPED = 'a signal';

export class CountedInput implements TrainInput {
  readonly batchesAhead: number;
  readonly saveState?: Required<Positioned>['saveState'];
  readonly restoreState?: Required<Positioned>['restoreState'];
  readonly #input: BatchInput;
  readonly #session: Session;
  readonly #stopped: Promise<never>;
  readonly #unlisten: () => void;
  /** Examples of the batches that were taken last, by their number. */
  readonly #last = new Float64Array(UNUSED_MAX);
  #taken = 0;
  /** Batches that came: one that is waited for when a signal ends the wait comes later and is not taken. */
  #came = 0;
  /** What it was told to go on from, and that as long as it is not there. */
  #restored: InputState | undefined;
  #left: InputState | undefined;
  #examples = 0;
  #ended = false;

  constructor(input: BatchInput, session: Session, signal: AbortSignal) {
    this.#input = input;
    this.#session = session;
    this.batchesAhead = input.batchesAhead ?? 1;
    Object.assign(this, this.#position(positionThrough(input, () => this.#came - this.#taken)));
    let stop: (error: unknown) => void = () => undefined;
    this.#stopped = new Promise((_, reject) => {
      stop = reject;
    });
    this.#stopped.catch(() => undefined);
    const listener = () => stop(new MonolithError('ML_OUT_OF_RANGE', { source: STOPPED }));
    signal.addEventListener('abort', listener);
    this.#unlisten = () => signal.removeEventListener('abort', listener);
    if (signal.aborted) listener();
  }

  get begin(): InputBegin | undefined {
    return this.#input.begin;
  }

  /** Whether the data was over when a batch was asked for. */
  get ended(): boolean {
    return this.#ended;
  }

  next(): number | Promise<number> {
    try {
      const next = this.#input.next();
      if (typeof next !== 'number') return this.#wait(this.#arriving(next));
      this.#came++;
      return this.#count(next);
    } catch (error) {
      throw this.#noted(error);
    }
  }

  async #arriving(next: Promise<number>): Promise<number> {
    const batch = await next;
    this.#came++;
    return batch;
  }

  /** A signal ends the wait for rows that are passed over too; the place is then the one it was. */
  #position({ saveState, restoreState }: Positioned): Positioned {
    if (saveState === undefined || restoreState === undefined) return {};
    return {
      saveState: (unused) => this.#left ?? saveState(unused),
      restoreState: async (state) => {
        if (state === this.#restored) return;
        this.#restored = state;
        this.#left = state;
        const isThere = await Promise.race([
          Promise.resolve(restoreState(state)).then(() => true),
          this.#stopped,
        ]).catch((error: unknown) => {
          if (error instanceof MonolithError && error.fields.source === STOPPED) return false;
          throw error;
        });
        if (isThere) this.#left = undefined;
      },
    };
  }

  async #wait(next: Promise<number>): Promise<number> {
    try {
      return this.#count(await Promise.race([next, this.#stopped]));
    } catch (error) {
      throw this.#noted(error);
    }
  }

  #noted(error: unknown): unknown {
    const isEnd = error instanceof MonolithError && error.code === 'ML_OUT_OF_RANGE';
    if (isEnd && error.fields.source !== STOPPED) this.#ended = true;
    return error;
  }

  #count(batch: number): number {
    const rows = coreOf(this.#session).views.u32[batch / 4 + BATCH.rows]!;
    this.#last[this.#taken++ % UNUSED_MAX] = rows;
    this.#examples += rows;
    return batch;
  }

  /** Examples of the first `steps` batches: those that were taken ahead of a stop do not count. */
  examplesOf(steps: number): number {
    let examples = this.#examples;
    for (let batch = Math.max(steps, this.#taken - UNUSED_MAX); batch < this.#taken; batch++) {
      examples -= this.#last[batch % UNUSED_MAX]!;
    }
    return examples;
  }

  async close(): Promise<void> {
    this.#unlisten();
    await this.#input.close?.();
  }
}
