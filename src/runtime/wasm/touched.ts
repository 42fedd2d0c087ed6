/** @file Exports of assembly/touched: touched kernels. */
export type TouchedKernels = Record<never, never>;
