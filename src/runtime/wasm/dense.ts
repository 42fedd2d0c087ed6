/** @file Exports of assembly/dense: dense kernels. */
export type DenseKernels = Record<never, never>;
