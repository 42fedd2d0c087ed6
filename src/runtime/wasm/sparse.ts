/**
 * @file Exports of assembly/sparse: kernels over ids and ragged rows.
 *
 * Pointers are byte addresses, strides are floats between rows. A split is i32[rows + 1] and may start above 0;
 * `inverse` is positioned so that its entry for value j is j - splits[0]. Meaning of each: see the reference twins.
 */
export interface SparseKernels {
  uniqueTableCells(maxIds: number): number;
  uniqueI64(
    ids: number,
    n: number,
    table: number,
    tableMask: number,
    generation: number,
    base: number,
    uids: number,
    inverse: number,
  ): number;
  partitionByHash(uids: number, n: number, partitions: number, order: number, offsets: number): void;
  gatherI64(ids: number, order: number, n: number, out: number): void;
  poolSumF32: PoolKernel;
  poolMeanF32: PoolKernel;
  scatterAddF32: ScatterKernel;
  scatterMeanF32: ScatterKernel;
  gatherRowsF32(rowPtrs: number, n: number, dim: number, out: number, outStride: number): void;
  addRowF32(src: number, dst: number, dim: number): void;
  zeroRowsF32(dst: number, stride: number, rows: number, cols: number): void;
  rowIdsFromSplits(splits: number, rows: number, out: number): void;
  rowIdsFromSplitsI64(splits: number, rows: number, out: number): void;
  copyPieces(descriptors: number, count: number): number;
}

export type PoolKernel = (
  rowPtrs: number,
  inverse: number,
  splits: number,
  rows: number,
  dim: number,
  out: number,
  outStride: number,
) => void;

export type ScatterKernel = (
  grad: number,
  gradStride: number,
  inverse: number,
  splits: number,
  rows: number,
  dim: number,
  ugrad: number,
  ugradStride: number,
) => void;
