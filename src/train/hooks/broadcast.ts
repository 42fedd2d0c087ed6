/** @file What rank 0 tells the other workers of a job that step together. */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import type { ControlKv } from './control-kv.js';

/** What hooks of workers in step need of a collective. */
export interface Broadcast {
  readonly rank: number;
  /** What rank 0 gave, on every rank: all of them call it, in the same order. ML_DEADLINE after the limit. */
  broadcast(values: readonly number[], limitMs: number): Promise<readonly number[]>;
}

/** One worker, who tells itself. */
export const ALONE: Broadcast = { rank: 0, broadcast: (values) => Promise.resolve(values) };

export interface KvBroadcastOptions {
  readonly kv: ControlKv;
  readonly rank: number;
  /** Who tell each other: hooks that broadcast at other times have names of their own. */
  readonly name: string;
  readonly clock?: Clock;
}

const POLL_MS = 10;

/** Broadcasts over keys and values that the workers share. */
export class KvBroadcast implements Broadcast {
  readonly rank: number;
  readonly #kv: ControlKv;
  readonly #name: string;
  readonly #clock: Clock;
  #count = 0;

  constructor(options: KvBroadcastOptions) {
    const {
      kv,
      rank,
      name,
      clock = systemClock,
    } = checkOptions('KvBroadcast', options, [...(['kv', 'rank', 'name', 'clock'] as const)]);
    this.rank = rank;
    this.#kv = kv;
    this.#name = name;
    this.#clock = clock;
  }

  async broadcast(values: readonly number[], limitMs: number): Promise<readonly number[]> {
    const key = `broadcast/${this.#name}/${this.#count++}`;
    if (this.rank === 0) {
      await this.#kv.setString(key, JSON.stringify(values));
      return values;
    }
    const end = this.#clock.now() + limitMs;
    for (;;) {
      const told = await this.#kv.getString(key);
      if (told !== '') return JSON.parse(told) as number[];
      if (this.#clock.now() >= end) {
        throw new MonolithError('ML_DEADLINE', { what: `the broadcast of ${this.#name}`, timeoutMs: limitMs });
      }
      await this.#clock.sleep(POLL_MS);
    }
  }
}
