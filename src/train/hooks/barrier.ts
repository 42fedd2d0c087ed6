/**
 * @file A barrier at which workers stop between steps, for a save or for good (native_training/barrier_ops).
 *
 * A vector of booleans is shared: element 0 says that the barrier is placed, element i that worker i is blocked at it;
 * a string says what it was placed for. The chief, index 0, places it and never blocks.
 */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import type { Session } from '../../runtime/session/session.js';
import type { ControlKv } from './control-kv.js';
import type { Coordinator } from './coordinator.js';
import type { TrainHook } from './hook.js';

export type BarrierCallback = (action: string) => void | Promise<void>;

export interface BarrierOptions {
  /** Workers, the chief among them. */
  readonly capacity: number;
  readonly kv: ControlKv;
  /** Default: 1. */
  readonly waitSeconds?: number;
  /** Default: `default`. */
  readonly namePrefix?: string;
  /** Told of the action by whoever places the barrier, and by every worker that it blocks. */
  readonly callbacks?: readonly BarrierCallback[];
  readonly clock?: Clock;
}

const LOG_MS = 60_000;

/** A place where workers wait until the one that set it up lets them go. */
export class BarrierOp {
  readonly capacity: number;
  readonly #kv: ControlKv;
  readonly #vector: string;
  readonly #action: string;
  readonly #waitMs: number;
  readonly #callbacks: readonly BarrierCallback[];
  readonly #clock: Clock;

  constructor(options: BarrierOptions) {
    const known = ['capacity', 'kv', 'waitSeconds', 'namePrefix', 'callbacks', 'clock'] as const;
    const {
      capacity,
      kv,
      waitSeconds = 1,
      namePrefix = 'default',
      callbacks = [],
      clock = systemClock,
    } = checkOptions('BarrierOp', options, known);
    this.capacity = capacity;
    this.#kv = kv;
    this.#vector = `${namePrefix}_barrier_var`;
    this.#action = `${namePrefix}_barrier_op_action`;
    this.#waitMs = waitSeconds * 1000;
    this.#callbacks = callbacks;
    this.#clock = clock;
  }

  /** ML_BARRIER_PLACED when there is one already. */
  async placeBarrier(action = ''): Promise<void> {
    if (!(await this.#kv.compareAndSet(this.#vector, 0, false, true))) throw new MonolithError('ML_BARRIER_PLACED');
    await this.#kv.setString(this.#action, action);
    await this.#tell(action);
  }

  async removeBarrier(): Promise<void> {
    await this.#kv.setBool(this.#vector, 0, false);
  }

  async isBarrierPlaced(): Promise<boolean> {
    return (await this.#states())[0]!;
  }

  async isBarrierRemoved(): Promise<boolean> {
    return !(await this.isBarrierPlaced());
  }

  /** Blocks worker `index` until the barrier is gone, or `signal` is aborted. */
  async waitUntilBarrierRemoved(index: number, signal?: AbortSignal): Promise<void> {
    if (!(Number.isInteger(index) && index > 0 && index < this.capacity)) {
      throw new MonolithError('ML_BARRIER_INDEX', { index, capacity: this.capacity });
    }
    await this.#kv.setBool(this.#vector, index, true);
    try {
      await this.#tell(await this.#kv.getString(this.#action));
      let loggedMs = this.#clock.now();
      while (!signal?.aborted && (await this.isBarrierPlaced())) {
        if (this.#clock.now() - loggedMs >= LOG_MS) {
          log.info(`The worker ${index} waits until barrier removed.`);
          loggedMs = this.#clock.now();
        }
        await this.#clock.sleep(this.#waitMs, signal);
      }
    } finally {
      await this.#kv.setBool(this.#vector, index, false);
    }
  }

  /** The placed barrier and all workers; element 0 counts. */
  async isAllBlocked(): Promise<boolean> {
    return (await this.#states()).every(Boolean);
  }

  async isNoneBlocked(): Promise<boolean> {
    return !(await this.#states()).some(Boolean);
  }

  async getBlockedIndices(): Promise<number[]> {
    return (await this.#states()).flatMap((blocked, index) => (blocked ? [index] : []));
  }

  async getUnblockedIndices(): Promise<number[]> {
    return (await this.#states()).flatMap((blocked, index) => (blocked ? [] : [index]));
  }

  #states(): Promise<readonly boolean[]> {
    return this.#kv.getBools(this.#vector, this.capacity);
  }

  async #tell(action: string): Promise<void> {
    for (const callback of this.#callbacks) await callback(action);
  }
}

/**
 * Blocks a worker after the group of steps in which it sees the barrier: half a second later at most, and no group is
 * cut for it.
 */
export class BarrierHook implements TrainHook {
  readonly #index: number;
  readonly #barrier: BarrierOp;
  #signal: AbortSignal | undefined;

  constructor(index: number, barrier: BarrierOp) {
    this.#index = index;
    this.#barrier = barrier;
  }

  afterCreateSession(_session: Session, { signal }: Coordinator): void {
    this.#signal = signal;
  }

  async poll(): Promise<void> {
    if (this.#index === 0 || !(await this.#barrier.isBarrierPlaced())) return;
    await this.#barrier.waitUntilBarrierRemoved(this.#index, this.#signal);
  }
}
