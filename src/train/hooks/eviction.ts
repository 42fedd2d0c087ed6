/**
 * @file Evicts expired rows while training, of the tables whose configs ask for it: between steps, when no thread is
 * at a table.
 */
import { checkOptions } from '../../base/check-options.js';
import type { Session } from '../../runtime/session/session.js';
import { TABLES } from '../../sparse/steps/embedding-ops.js';
import { HashTable } from '../../sparse/table/hash-table.js';
import { PeriodicEviction } from '../../sparse/table/periodic-eviction.js';
import type { TrainHook } from './hook.js';

const POLL_MS = 10_000;
const EVERY_HOURS = 240;

export interface EvictionOptions {
  /** Unix seconds. Default: the wall clock. */
  readonly nowSec?: () => number;
  readonly pollMs?: number;
  readonly onEvicted?: (table: string, rows: number) => void;
}

/** Evicts expired rows of all tables every so many steps. */
export class EvictionHook implements TrainHook {
  readonly #options: EvictionOptions;
  #evictions: readonly { readonly name: string; readonly eviction: PeriodicEviction }[] = [];
  #polledMs = 0;

  constructor(options: EvictionOptions = {}) {
    checkOptions('EvictionHook', options, ['nowSec', 'pollMs', 'onEvicted']);
    this.#options = options;
  }

  /** Starts the clocks: the first eviction is due when the hours of the table have gone by. */
  afterCreateSession(session: Session): void {
    const { nowSec } = this.#options;
    const configs = session.graph.getCollection(TABLES);
    this.#evictions = configs.flatMap((config) => {
      const { enableFeatureEviction, featureEvictEveryNHours: everyHours = EVERY_HOURS } = config.instance.tableConfig;
      if (enableFeatureEviction !== true) return [];
      const table = HashTable.of(session, config);
      const eviction = new PeriodicEviction(table, { everyHours, ...(nowSec && { nowSec }) });
      return [{ name: config.name, eviction }];
    });
    this.#poll();
  }

  /** Half a second late is nothing beside hours: steps never pause for it. */
  poll(): void {
    const { pollMs = POLL_MS } = this.#options;
    if (this.#evictions.length > 0 && performance.now() - this.#polledMs >= pollMs) this.#poll();
  }

  #poll(): void {
    this.#polledMs = performance.now();
    for (const { name, eviction } of this.#evictions) {
      const rows = eviction.poll();
      if (rows > 0) this.#options.onEvicted?.(name, rows);
    }
  }
}
