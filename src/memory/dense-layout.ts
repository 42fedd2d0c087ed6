/**
 * @file What the kernels of dense optimizers read from shared memory; assembly/optim/shampoo.ts reads the same.
 *
 * A shampoo block is one per variable: | words below | then one entry of SHAMPOO_AXIS per axis |, 4 bytes each.
 */

/** Words of a shampoo block. Addresses are bytes; `projected` and the works hold floats, `eigen` f64s. */
export const SHAMPOO = {
  rank: 0,
  count: 1,
  variable: 2,
  gradient: 3,
  d: 4,
  m: 5,
  pm: 6,
  /** Two buffers as large as the variable. */
  work: 7,
  otherWork: 8,
  projected: 9,
  eigen: 10,
  gemm: 11,
  beta1: 12,
  beta2: 13,
  damping: 14,
  warmup: 15,
  tau1: 16,
  tau2: 17,
  eigenHead: 18,
  eigenTail: 19,
  axes: 20,
} as const;

/** Words of an axis: its size, the columns that are kept of its eigenvectors, and its slots. */
export const SHAMPOO_AXIS = { size: 0, kept: 1, s: 2, g: 3, pvec: 4, pval: 5, o: 6 } as const;
export const SHAMPOO_AXIS_WORDS = 8;

/** f64s of scratch that symmetricEigenF64 takes beside its operands, and that inverseRootF32 takes in all. */
export const eigenScratch = (size: number): number => 3 * size;
export const inverseRootScratch = (size: number): number => 2 * size * size + size + eigenScratch(size);
