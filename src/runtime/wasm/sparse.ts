/** @file Exports of assembly/sparse: sparse kernels. */
export type SparseKernels = Record<never, never>;
