/**
 * @file What workers in step with each other need of a collective: everyone sends a part to everyone.
 *
 * `LocalAllToAll` joins workers of one thread, which is enough for one worker and for tests of several; a transport
 * between threads or machines implements the same interface.
 */
import { MonolithError } from '../../base/errors.js';

/** One worker's grip on the collective. All workers make the same calls in the same order. */
export interface AllToAll {
  readonly rank: number;
  readonly workerCount: number;
  /** Part s goes to worker s; answers the parts that all workers have for this one, in the order of the workers. */
  exchange<T>(parts: readonly T[]): Promise<readonly T[]>;
}

interface Round {
  readonly sent: (readonly unknown[])[];
  readonly taken: Promise<void>;
  readonly publish: () => void;
  arrived: number;
}

/** A collective of workers that share a thread. */
export class LocalAllToAll {
  readonly #workerCount: number;
  /** Rounds that some worker has not entered yet, from number `#first` on. */
  readonly #rounds: Round[] = [];
  readonly #entered: number[];
  #first = 0;

  constructor(workerCount: number) {
    this.#workerCount = workerCount;
    this.#entered = new Array<number>(workerCount).fill(0);
  }

  /** The grip of worker `rank`. */
  worker(rank: number): AllToAll {
    return { rank, workerCount: this.#workerCount, exchange: (parts) => this.#exchange(rank, parts) };
  }

  async #exchange<T>(rank: number, parts: readonly T[]): Promise<readonly T[]> {
    if (parts.length !== this.#workerCount) {
      const reason = `${parts.length} parts were sent to ${this.#workerCount} workers`;
      throw new MonolithError('ML_OP', { op: 'allToAll', reason });
    }
    const number = this.#entered[rank]!++;
    const round = this.#round(number - this.#first);
    round.sent[rank] = parts;
    if (++round.arrived === this.#workerCount) {
      // Nobody is in a later round before all have been in this one, so it is the oldest.
      this.#rounds.shift();
      this.#first++;
      round.publish();
    }
    await round.taken;
    return round.sent.map((from) => from[rank] as T);
  }

  #round(index: number): Round {
    const known = this.#rounds[index];
    if (known !== undefined) return known;
    let publish = () => {};
    const taken = new Promise<void>((resolve) => {
      publish = resolve;
    });
    const round = { sent: new Array<readonly unknown[]>(this.#workerCount), taken, publish, arrived: 0 };
    this.#rounds.push(round);
    return round;
  }
}
