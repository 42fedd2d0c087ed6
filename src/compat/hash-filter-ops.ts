/**
 * @file The names of native_training/hash_filter_ops. A filter lies in the memory of a session or of tables:
 * `sessionRegion`.
 */

import { createFilter, DummyFilter } from '../sparse/admission/admission-filter.js';
import type { AdmissionFilter, FilterMemory } from '../sparse/admission/filter-memory.js';
import { DEFAULT_FILTER_CAPACITY, DEFAULT_SPLIT_NUM, HashFilter } from '../sparse/admission/hash-filter.js';
import { ProbabilisticFilter } from '../sparse/admission/probabilistic-filter.js';
import type { SlotOccurrenceThresholdConfig } from '../sparse/config/config-messages.js';

export { interceptGradient } from '../sparse/admission/admission-filter.js';
export { restoreFilter as restoreHashFilter, saveFilter as saveHashFilter } from '../sparse/admission/filter-files.js';

/** Ids a filter is made for when nobody says how many. */
export const HASH_FILTER_CAPACITY = DEFAULT_FILTER_CAPACITY;
/** Splits of a sliding filter when nobody says how many. */
export const HASH_FILTER_SPLIT_NUM = DEFAULT_SPLIT_NUM;

/** The kinds of filters. */
export const FilterType = {
  SLIDING_HASH_FILTER: 'sliding_hash_filter',
  PROBABILISTIC_FILTER: 'probabilistic_filter',
  NO_FILTER: 'no_filter',
} as const;

export interface HashFiltersOptions {
  /** Without it the filters let everything in. Default: true. */
  readonly enableHashFilter?: boolean;
  readonly config?: SlotOccurrenceThresholdConfig;
  /** Default: HASH_FILTER_CAPACITY. */
  readonly filterCapacity?: number;
  /** Default: HASH_FILTER_SPLIT_NUM. */
  readonly filterSplitNum?: number;
  /** Default: false. */
  readonly filterEqualProbability?: boolean;
  /** Default: the sliding one. */
  readonly filterType?: (typeof FilterType)[keyof typeof FilterType];
}

/** A sliding filter of `capacity` ids in `splitNum` splits. */
export function createHashFilter(
  memory: FilterMemory,
  capacity: number,
  splitNum: number,
  config: SlotOccurrenceThresholdConfig = {},
): HashFilter {
  return HashFilter.sliding({ ...memory, capacity, splitNum, thresholds: config });
}

/** A filter that lets ids in by chance. */
export function createProbabilisticFilter(
  memory: FilterMemory,
  equalProbability: boolean,
  config: SlotOccurrenceThresholdConfig = {},
): ProbabilisticFilter {
  return new ProbabilisticFilter({ ...memory, equalProbability, thresholds: config });
}

/** A filter that lets everything in. */
export function createDummyHashFilter(): DummyFilter {
  return new DummyFilter();
}

/** A filter for each server, in its memory. */
export function createHashFilters(
  memories: readonly FilterMemory[],
  options: HashFiltersOptions = {},
): AdmissionFilter[] {
  const { enableHashFilter = true, filterType = FilterType.SLIDING_HASH_FILTER } = options;
  return memories.map((memory) =>
    createFilter({
      ...memory,
      type: enableHashFilter ? filterType : FilterType.NO_FILTER,
      capacity: options.filterCapacity ?? HASH_FILTER_CAPACITY,
      splitNum: options.filterSplitNum ?? HASH_FILTER_SPLIT_NUM,
      equalProbability: options.filterEqualProbability ?? false,
      ...(options.config && { thresholds: options.config }),
    }),
  );
}
