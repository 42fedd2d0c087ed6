/**
 * @file What tables, threads and commands are limited to, wherever somebody asks: kernels, options, plans, flags.
 *
 * What readers of files take at most is in base/limits.ts.
 */
import { HEAP_BLOCK_MAX, PARTITIONS, ROWS_BLOCK_MAX } from './table-layout.js';

/** Threads of a session: each owns a partition of every table at least. */
export const THREADS_MAX = PARTITIONS;

/** Weights of a row over all its segments. With the state of any optimizer such a row is below ROW_FLOATS_MAX. */
export const ROW_DIM_MAX = 16384;

/** Weights and state of a row, so that a whole block of rows is one request to the heap. */
export const ROW_FLOATS_MAX = (HEAP_BLOCK_MAX / ROWS_BLOCK_MAX - 16) / 4;
/** Batches whose rows a session reads ahead at the most: each is a copy of them in memory. */
export const PREFETCH_MAX = 16;

/** Owners that the rows of a cut step are spread over at the most. */
export const OWNERS_MAX = 1024;
