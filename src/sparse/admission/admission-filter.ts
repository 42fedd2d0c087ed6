/**
 * @file Admission filters: whether an id that a table lacks has been seen often enough to get a row.
 *
 * Mirrors runtime/hash_filter. State is in shared memory (assembly/filter) and any thread may ask at any time; a filter
 * object is one thread's grip on it. Thresholds are by slot of the id, whose bits are always read as those of a v2 id.
 */
import { MonolithError } from '../../base/errors.js';
import type { SlotOccurrenceThresholdConfig } from '../config/config-messages.js';
import { type AdmissionFilter, checkFilterOptions, type FilterMemory, type FilterQuestion } from './filter-memory.js';
import { HashFilter } from './hash-filter.js';
import { ProbabilisticFilter } from './probabilistic-filter.js';

/** Lets everything in. */
export class DummyFilter implements AdmissionFilter {
  readonly type = 'no_filter';

  shouldFilter({ ids }: FilterQuestion): Uint8Array {
    return new Uint8Array(ids.length);
  }
}

export interface CreateFilterOptions extends FilterMemory {
  readonly type: string;
  readonly capacity?: number;
  readonly splitNum?: number;
  readonly thresholds?: SlotOccurrenceThresholdConfig;
  readonly equalProbability?: boolean;
  readonly seed?: bigint;
}

const FILTER_OPTIONS = ['type', 'capacity', 'splitNum', 'thresholds', 'equalProbability', 'seed'];

/** The filter of a config, by upstream's names of the types. */
export function createFilter(options: CreateFilterOptions): AdmissionFilter {
  checkFilterOptions('createFilter', options, FILTER_OPTIONS);
  const { type, capacity, splitNum, equalProbability, seed, ...common } = options;
  switch (type) {
    case 'sliding_hash_filter':
      return HashFilter.sliding({
        ...common,
        ...(capacity !== undefined && { capacity }),
        ...(splitNum !== undefined && { splitNum }),
      });
    case 'probabilistic_filter':
      return new ProbabilisticFilter({
        ...common,
        ...(equalProbability !== undefined && { equalProbability }),
        ...(seed !== undefined && { seed }),
      });
    case 'no_filter':
      return new DummyFilter();
    default:
      throw new MonolithError('ML_FILTER_TYPE', { type });
  }
}

/** Backward of the interception op: rows of ids that are kept out become zero. Forward is the identity. */
export function interceptGradient(
  filter: AdmissionFilter,
  ids: BigInt64Array,
  gradient: Float32Array,
  dim: number,
): void {
  filter.shouldFilter({ ids }).forEach((kept, row) => {
    if (kept !== 0) gradient.fill(0, row * dim, (row + 1) * dim);
  });
}
