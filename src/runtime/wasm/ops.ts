/** @file Exports of assembly/ops: kernels of the distribution ops. Meaning of each: see the reference twins. */
export interface OpsKernels {
  shardCountI64(ids: number, n: number, servers: number, places: number, counts: number): void;
  shardPlaceI64(ids: number, n: number, places: number, servers: number, scale: number, out: number): void;
  fusedReorderI64(
    inputs: number,
    count: number,
    shards: number,
    skipFirst: number,
    table: number,
    tableMask: number,
    generation: number,
    uids: number,
    shardOfUid: number,
    floatOfUid: number,
    uniqueEnds: number,
    cells: number,
    cursors: number,
    output: number,
  ): number;
  uniqueKeyOffsetsI64(
    keys: number,
    splits: number,
    rows: number,
    dims: number,
    table: number,
    tableMask: number,
    generation: number,
    uids: number,
    uniqueSplits: number,
    offsetSplits: number,
    offsets: number,
    inverse: number,
  ): number;
  fusedGatherF32(outputs: number, count: number, fused: number): void;
  fusedGatherGradF32(outputs: number, count: number, fused: number, scale: number): void;
  reduceSliceF32(
    values: number,
    stride: number,
    splits: number,
    rows: number,
    start: number,
    dim: number,
    out: number,
  ): void;
  reduceSliceGradF32(
    grad: number,
    splits: number,
    rows: number,
    start: number,
    dim: number,
    values: number,
    stride: number,
  ): void;
  layoutResolve(
    fidOffset: number,
    begin: number,
    end: number,
    sources: number,
    sourceCount: number,
    dim: number,
    rows: number,
  ): number;
  layoutForwardF32(
    rows: number,
    samples: number,
    batch: number,
    shared: number,
    start: number,
    dim: number,
    pooling: number,
    limit: number,
    out: number,
    rowStride: number,
    positionStride: number,
  ): void;
  layoutBackwardF32(
    rows: number,
    samples: number,
    batch: number,
    shared: number,
    start: number,
    dim: number,
    pooling: number,
    limit: number,
    grad: number,
    rowStride: number,
    positionStride: number,
    scale: number,
  ): void;
}
