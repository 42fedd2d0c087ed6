/**
 * @file Layout of what kernels know of a page of Parquet while they go through it: runs of levels or indices, and the
 * progress of lists.
 *
 * Runs: | 0 at | 1 end | 2 width | 3 left | 4 packed | 5 value | 6 bit | 7 next |
 *
 * The bytes of all runs are from `at` to `end`. Of the run that was begun `left` values are to come: `value` again and
 * again, or, where it is packed, `width` bits each from `bit` of the byte at `at` on; then `at` goes on at `next`.
 */
export const RUNS = { at: 0, end: 1, width: 2, left: 3, packed: 4, value: 5, bit: 6, next: 7 } as const;
export const RUNS_WORDS = 8;

/** Rows that were begun and values they have, of the lists of a block. */
export const LISTS = { rows: 0, values: 1 } as const;
export const LISTS_WORDS = 2;

/** What a number of a page is. */
export const NUMBER_TYPE = { int32: 0, uint32: 1, int64: 2, uint64: 3, float32: 4, float64: 5 } as const;
