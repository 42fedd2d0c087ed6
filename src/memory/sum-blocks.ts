/**
 * @file Lengths of the blocks in which kernels sum over a batch: they decide last bits, so all backends have the same.
 *
 * A chain of additions is off by as many roundings as it is long. assembly/dense/column-sums.ts says more.
 */

/** Terms of a column that make a sum; as many such sums make one that is added to the result. */
export const SUM_BLOCK = 64;

/** Steps of k that a matrix product sums in one chain; a longer k is a batch. */
export const CHAIN_K = 512;
/** Most steps of k in a block of a longer one. */
export const SUM_K = 256;

/** Rows whose gradients of a weight of cinF32 make a sum. */
export const PAIR_ROWS = 256;

/**
 * Rows with the same id whose gradients are added up before the sums are: an id of all examples makes no longer chain.
 */
export const REPEATS = 256;
