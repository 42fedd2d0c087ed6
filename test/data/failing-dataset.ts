/** @file A data set with more batches than a ring holds, which then ends in the way its options ask for. */
import { MonolithError } from '../../src/base/errors.js';
import type { DatasetSource, OpenDataset } from '../../src/data/dataset-source.js';
import type { Arena } from '../../src/memory/arena.js';
import type { Views } from '../../src/memory/views.js';

export type Failure = 'coded' | 'plain' | 'die' | 'die loading';

export function failingDataset(options: Failure): DatasetSource<Failure> {
  return { module: import.meta.url, options, bytes: 64 };
}

export function openDataset(_views: Views, arena: Arena, failure: Failure): OpenDataset {
  if (failure === 'die loading') process.exit(8);
  const pointer = arena.alloc(64, 'the one batch');
  return {
    batchCount: 1,
    exampleCount: 1,
    batchAt: (number) => {
      if (number < 6) return pointer;
      if (failure === 'coded') throw new MonolithError('ML_DATASET', { reason: 'batch 6 is bad' });
      if (failure === 'plain') throw new TypeError('batch 6 is worse');
      return process.exit(7);
    },
  };
}
