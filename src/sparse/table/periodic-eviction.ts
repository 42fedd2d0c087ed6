/**
 * @file Evicts expired rows of a table every so many hours, as the table's config asks.
 *
 * Rows expire by the time of the data, not of the wall clock: a table that is fed nothing keeps what it has. Whoever
 * owns the table polls between its steps, or lets a timer poll when all updates go through the table's own calls.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';

const POLL_MS = 10_000;

/** The part of a table this needs. */
export interface Evictable {
  readonly name: string;
  readonly maxUpdateSec: number;
  evict(nowSec: number): number;
}

export interface PeriodicEvictionOptions {
  readonly everyHours: number;
  /** Unix seconds. Default: the wall clock. */
  readonly nowSec?: () => number;
  readonly pollMs?: number;
}

/** Evicts expired rows of a table every so often. */
export class PeriodicEviction {
  readonly #table: Evictable;
  readonly #everySec: number;
  readonly #nowSec: () => number;
  readonly #pollMs: number;
  #lastSec: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(table: Evictable, options: PeriodicEvictionOptions) {
    checkOptions('PeriodicEviction', options, ['everyHours', 'nowSec', 'pollMs']);
    const { everyHours, nowSec = () => Math.floor(Date.now() / 1000), pollMs = POLL_MS } = options;
    if (!(everyHours > 0)) {
      const reason = `${table.name} cannot evict every ${everyHours} hours`;
      throw new MonolithError('ML_FLAG', { flag: 'featureEvictEveryNHours', reason });
    }
    this.#table = table;
    this.#everySec = everyHours * 3600;
    this.#nowSec = nowSec;
    this.#pollMs = pollMs;
  }

  /** Evicts when it is time; returns how many rows went. The first poll only starts the clock. */
  poll(): number {
    const now = this.#nowSec();
    if (this.#lastSec === undefined) {
      this.#lastSec = now;
      return 0;
    }
    if (now - this.#lastSec < this.#everySec) return 0;
    this.#lastSec = now;
    return this.#table.evict(this.#table.maxUpdateSec);
  }

  /** Polls by a timer that keeps no process alive. Not for tables that a session trains: its steps take no locks. */
  start(): void {
    this.#timer ??= setInterval(() => this.poll(), this.#pollMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
