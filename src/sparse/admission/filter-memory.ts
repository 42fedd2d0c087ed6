/** @file What every admission filter needs: where it lives, what it is asked, its thresholds, room for a question. */
import { checkKeys } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { Arena } from '../../memory/arena.js';
import { FEATURE_SLOTS } from '../../memory/filter-layout.js';
import type { Views } from '../../memory/views.js';
import type { FilterKernels } from '../../runtime/backends/wasm/calls/filter.js';
import type { SlotOccurrenceThresholdConfig } from '../config/config-messages.js';

const CHUNK = 1024;

export interface FilterMemory {
  readonly views: Views;
  readonly kernels: FilterKernels;
  /** Where state and scratch come from. */
  readonly arena: Arena;
}

export interface FilterQuestion {
  readonly ids: BigInt64Array;
  /** Sightings of each id. Default: one each. */
  readonly counts?: Uint32Array;
  /** Not 0 where the table has the id, which then passes and is not counted. Default: there is no table. */
  readonly present?: Uint8Array;
}

export interface AdmissionFilter {
  readonly type: 'sliding_hash_filter' | 'hash_filter' | 'probabilistic_filter' | 'no_filter';
  /** 1 for each id that is to be kept out. */
  shouldFilter(question: FilterQuestion): Uint8Array;
}

/** Checks the options of a filter, which may come with all that a region of memory has. */
export function checkFilterOptions(where: string, options: FilterMemory, known: readonly string[]): void {
  checkKeys(where, options, ['views', 'kernels', 'arena', 'memory', ...known]);
}

/** Occurrence thresholds by slot. */
export function buildThresholds(config: SlotOccurrenceThresholdConfig = {}): Uint32Array {
  const thresholds = new Uint32Array(FEATURE_SLOTS).fill(config.defaultOccurrenceThreshold ?? 0);
  for (const { slot = 0, occurrenceThreshold = 0 } of config.slotOccurrenceThresholds ?? []) {
    if (!(Number.isInteger(slot) && slot >= 0 && slot < FEATURE_SLOTS))
      throw new MonolithError('ML_FID_SLOT', { limit: FEATURE_SLOTS, slot });
    thresholds[slot] = occurrenceThreshold;
  }
  return thresholds;
}

/** Whether any slot has a threshold above 0: else no filter is needed. */
export function needsFilter(config: SlotOccurrenceThresholdConfig): boolean {
  return buildThresholds(config).some((threshold) => threshold > 0);
}

/** Writes the thresholds of a config into memory of their own and returns their address. */
export function putThresholds({ arena, views }: FilterMemory, config?: SlotOccurrenceThresholdConfig): number {
  const at = arena.alloc(FEATURE_SLOTS * 4, 'filter thresholds');
  views.u32.set(buildThresholds(config), at / 4);
  return at;
}

/** Room for a chunk of a question: ids, counts, present bytes, answers. */
export class FilterScratch {
  readonly ids: number;
  readonly counts: number;
  readonly present: number;
  readonly out: number;
  readonly #views: Views;

  constructor({ arena, views }: FilterMemory) {
    this.#views = views;
    this.ids = arena.alloc(CHUNK * 17, 'filter scratch');
    this.out = this.ids + CHUNK * 8;
    this.counts = this.out + CHUNK * 4;
    this.present = this.counts + CHUNK * 4;
  }

  /** Calls `body` for each chunk, with the addresses it needs; what has no values gets address 0. */
  each(
    { ids, counts, present }: FilterQuestion,
    body: (from: number, n: number, at: { counts: number; present: number }) => void,
  ): void {
    const { i64, u32, u8 } = this.#views;
    for (let from = 0; from < ids.length; from += CHUNK) {
      const n = Math.min(CHUNK, ids.length - from);
      i64.set(ids.subarray(from, from + n), this.ids / 8);
      if (counts !== undefined) u32.set(counts.subarray(from, from + n), this.counts / 4);
      if (present !== undefined) u8.set(present.subarray(from, from + n), this.present);
      body(from, n, {
        counts: counts === undefined ? 0 : this.counts,
        present: present === undefined ? 0 : this.present,
      });
    }
  }
}
