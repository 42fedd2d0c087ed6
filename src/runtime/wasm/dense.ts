/**
 * @file Exports of assembly/dense: kernels over row-major f32 matrices.
 *
 * Pointers are byte addresses. A `stride` is the distance between two rows in floats. `acc` 0 overwrites the output, 1
 * adds to it. Any count may be 0. An output may be the operand it is computed from, with the same stride; gemmF32 and the
 * reductions excepted. Orders of summation and error bounds are with the kernels in assembly/dense.
 */

/** dst (+)= a op b, elementwise. */
type Binary = (
  a: number,
  aStride: number,
  b: number,
  bStride: number,
  dst: number,
  dstStride: number,
  rows: number,
  cols: number,
  acc: number,
) => void;

/** y = f(x), elementwise. */
type Unary = (x: number, xStride: number, y: number, yStride: number, rows: number, cols: number) => void;

/** dx (+)= dy * f'(x), from the output y of f. */
type UnaryGrad = (
  dy: number,
  dyStride: number,
  y: number,
  yStride: number,
  dx: number,
  dxStride: number,
  rows: number,
  cols: number,
  acc: number,
) => void;

export interface DenseKernels {
  copyRowsF32(
    src: number,
    srcStride: number,
    dst: number,
    dstStride: number,
    rows: number,
    cols: number,
    acc: number,
  ): void;
  readonly subF32: Binary;
  readonly mulF32: Binary;
  scaleF32(
    src: number,
    srcStride: number,
    dst: number,
    dstStride: number,
    rows: number,
    cols: number,
    factor: number,
    acc: number,
  ): void;
  /** dst[r, c] = x[r, c] + bias[c]. */
  addBiasF32(
    x: number,
    xStride: number,
    bias: number,
    dst: number,
    dstStride: number,
    rows: number,
    cols: number,
  ): void;
  /** dst[c] (+)= sum over r of src[r, c], in row order. */
  sumRowsF32(src: number, srcStride: number, dst: number, rows: number, cols: number, acc: number): void;
  /** dst[0] = factor * sum of all, summed in f64. */
  sumF32(src: number, srcStride: number, rows: number, cols: number, dst: number, factor: number): void;
  /** dst[r, c] (+)= factor * src[0]. */
  broadcastScalarF32(
    src: number,
    dst: number,
    dstStride: number,
    rows: number,
    cols: number,
    factor: number,
    acc: number,
  ): void;
  /** out[r] (+)= sum over c of a[r, c] * b[r, c]. */
  rowDotF32(
    a: number,
    aStride: number,
    b: number,
    bStride: number,
    out: number,
    outStride: number,
    rows: number,
    cols: number,
    acc: number,
  ): void;
  /** dst[r, :] (+)= scale[r] * src[r, :]. */
  scaleRowsF32(
    scale: number,
    scaleStride: number,
    src: number,
    srcStride: number,
    dst: number,
    dstStride: number,
    rows: number,
    cols: number,
    acc: number,
  ): void;
  /** dst[i] = (src[0][i] + src[1][i]) + ..., in slice order. */
  reduceSlicesF32(src: number, sliceStride: number, slices: number, dst: number, n: number): void;

  readonly reluF32: Unary;
  readonly sigmoidF32: Unary;
  readonly tanhF32: Unary;
  readonly reluGradF32: UnaryGrad;
  readonly sigmoidGradF32: UnaryGrad;
  readonly tanhGradF32: UnaryGrad;

  /** Sigmoid cross entropy of each logit. */
  bceLogitsF32(
    x: number,
    xStride: number,
    label: number,
    labelStride: number,
    out: number,
    outStride: number,
    rows: number,
  ): void;
  /** dx[r] (+)= dy[r] * (sigmoid(x[r]) - label[r]). */
  bceLogitsGradF32(
    x: number,
    xStride: number,
    label: number,
    labelStride: number,
    dy: number,
    dyStride: number,
    dx: number,
    dxStride: number,
    rows: number,
    acc: number,
  ): void;

  /** C (+)= A * B with general strides of A (m x k) and B (k x n); `scratch` has gemmScratchBytes(m, n, k) bytes. */
  gemmF32(
    a: number,
    aRowStride: number,
    aColStride: number,
    b: number,
    bRowStride: number,
    bColStride: number,
    c: number,
    cStride: number,
    m: number,
    n: number,
    k: number,
    acc: number,
    scratch: number,
  ): void;
  gemmScratchBytes(m: number, n: number, k: number): number;

  applySgdF32(w: number, g: number, n: number, lr: number): void;
  applyAdagradF32(w: number, norm: number, g: number, n: number, lr: number, decay: number): void;
  applyFtrlF32(
    w: number,
    norm: number,
    zero: number,
    g: number,
    n: number,
    lr: number,
    beta: number,
    l1: number,
    l2: number,
  ): void;
}
