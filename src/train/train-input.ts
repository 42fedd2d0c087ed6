/** @file Where the batches of a training loop come from, and how they are taken in groups. */

import { setImmediate } from 'node:timers/promises';
import { MonolithError } from '../base/errors.js';
import { checkPositioned, type InputState, type Positioned } from '../base/input-state.js';
import { log } from '../base/log.js';

/** Where batches come from. */
export interface TrainInput extends Positioned {
  /** Address of the next batch; ML_OUT_OF_RANGE at the end of input, which is a normal stop. */
  next(): number | Promise<number>;
  /**
   * How many addresses that `next` returned stay good at once: steps run in groups, so batches are taken before they
   * are used. Default: 1, which is right for an input that fills the same memory again and again.
   */
  readonly batchesAhead?: number;
}

/** A group of steps. */
export interface BatchGroup {
  /** Batches to train on; empty at the end of input. */
  readonly batches: readonly number[];
  /** Those that come after them, as many as were asked for, fewer at the end of input. */
  readonly ahead: readonly number[];
}

/** Takes batches from an input in groups. */
export class BatchQueue {
  readonly #input: TrainInput;
  /** Taken and not trained on yet. */
  readonly #held: number[] = [];
  #waiting: Promise<number> | undefined;
  /** What is waited for has come, and nobody took it yet. */
  #arrived = false;
  #ended = false;

  constructor(input: TrainInput) {
    checkInput(input);
    this.#input = input;
  }

  /**
   * Up to `count` batches to train on, with the `ahead` that follow: waits until there is one and all of those, takes
   * the others as far as they are there.
   */
  async take(count: number, ahead = 0): Promise<BatchGroup> {
    try {
      while (!this.#ended && this.#held.length < count + ahead) {
        const next = this.#waiting ?? this.#input.next();
        if (typeof next === 'number') this.#held.push(next);
        else if (typeof (next as Partial<Promise<number>> | null)?.catch !== 'function') throw notABatch(next);
        else if (this.#held.length > ahead) {
          // It is awaited by the next call; until then a failure must not count as unhandled.
          if (this.#waiting === undefined) this.#expect(next);
          break;
        } else {
          this.#waiting = undefined;
          this.#arrived = false;
          const batch: unknown = await next;
          if (typeof batch !== 'number') throw notABatch(batch);
          this.#held.push(batch);
        }
      }
    } catch (error) {
      if (!(error instanceof MonolithError) || error.code !== 'ML_OUT_OF_RANGE') throw error;
      this.#ended = true;
    }
    const ready = this.#ended ? this.#held.length : this.#held.length - ahead;
    const batches = this.#held.splice(0, Math.min(count, ready));
    // An input that has ended may have more later: it is asked again.
    if (batches.length === 0) this.#ended = false;
    return { batches, ahead: this.#held.slice(0, ahead) };
  }

  #expect(next: Promise<number>): void {
    this.#waiting = next;
    this.#arrived = false;
    const note = () => {
      if (this.#waiting === next) this.#arrived = true;
    };
    next.then(note, () => undefined);
  }

  /** Where the input stands but for what was taken and not trained on; undefined when it cannot tell. */
  async saveState(): Promise<InputState | undefined> {
    if (this.#input.saveState === undefined) return undefined;
    // A batch that the input has counted by now is noted in the same turn of the event loop; here that turn is over.
    await setImmediate();
    return this.#input.saveState(this.#held.length + Number(this.#arrived));
  }
}

/** ML_FEED for what is no input. */
export function checkInput(input: TrainInput): void {
  if (typeof (input as Partial<TrainInput> | null)?.next !== 'function') throw notABatch('it has no method next');
  checkPositioned('input', input);
}

function notABatch(found: unknown): MonolithError {
  const what = typeof found === 'string' ? found : `its next gave ${found === null ? 'null' : typeof found}`;
  return new MonolithError(
    'ML_FEED',
    { name: 'input', reason: `${what}, not the address of a batch` },
    { hint: 'next returns addresses, such as those of loadBatches, and throws ML_OUT_OF_RANGE at the end of input' },
  );
}

/** Hands a restored position to the input, or tells that it has no use for it. */
export async function goOnFrom(input: TrainInput, state: InputState): Promise<void> {
  if (input.restoreState !== undefined) return input.restoreState(state);
  log.warn('the checkpoint has the position of its input, and the input has no restoreState');
}
