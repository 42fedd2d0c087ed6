/**
 * @file Kernels over inner dimensions: a row of a matrix is read as [outer, n, inner] floats, or as groups of `width`.
 */
import { family, kernel } from '../kernel.js';
import { ACCUMULATE, count, float, i32, matrix, read, SIZE, stepped, u32, write } from '../operand.js';

const INNER = { rows: count, outer: count, n: count, inner: count } as const;
const GROUPS = { rows: count, groups: count, width: count } as const;
const MOVED = { src: matrix.read, dst: matrix.write } as const;
const SHARED = { x: matrix.read, v: read, out: matrix.write, ...SIZE, period: count, ...ACCUMULATE } as const;

export const INNER_ROWS = family('dense', {
  copyBlocksF32: kernel('for each block: dst (+)= src, at steps of their own', {
    src: stepped.read,
    dst: stepped.write,
    rows: count,
    blocks: count,
    width: count,
    ...ACCUMULATE,
  }),
  transposeInnerF32: kernel('dst[r, o, j, i] (+)= src[r, o, i, j]', { ...MOVED, ...INNER, ...ACCUMULATE }),
  gatherInnerF32: kernel('dst[r, o, k, :] (+)= src[r, o, indices[k], :]', {
    ...MOVED,
    ...INNER,
    indices: u32(read),
    count,
    ...ACCUMULATE,
  }),
  scatterInnerF32: kernel('gradient of gatherInnerF32', {
    ...MOVED,
    ...INNER,
    indices: u32(read),
    count,
    ...ACCUMULATE,
  }),
  sumInnerF32: kernel('dst[r, o, i] (+)= factor * sum over j of src[r, o, j, i]', {
    ...MOVED,
    ...INNER,
    factor: float,
    ...ACCUMULATE,
  }),
  broadcastInnerF32: kernel('dst[r, o, j, i] (+)= factor * src[r, o, i]', {
    ...MOVED,
    ...INNER,
    factor: float,
    ...ACCUMULATE,
  }),
  maxInnerF32: kernel('dst[r, o, i] (+)= the largest src[r, o, j, i]', { ...MOVED, ...INNER, ...ACCUMULATE }),
  maxInnerGradF32: kernel('gradient of maxInnerF32, shared by equal values', {
    dy: matrix.read,
    x: matrix.read,
    y: matrix.read,
    dx: matrix.write,
    ...INNER,
    ...ACCUMULATE,
  }),
  addSharedF32: kernel('out[r, p, c] (+)= x[r, p, c] + v[c]', SHARED),
  mulSharedF32: kernel('out[r, p, c] (+)= x[r, p, c] * v[c]', SHARED),
  sumSharedF32: kernel('dst[c] = sum over r and p of a[r, p, c] * b[r, p, c], or of a alone', {
    a: matrix.read,
    b: matrix.read,
    dst: write,
    ...SIZE,
    period: count,
  }),
  scaleGroupsF32: kernel('dst[r, g, :] (+)= factors[r, g] * src[r, g, :]', {
    factors: matrix.read,
    src: matrix.read,
    dst: matrix.write,
    ...GROUPS,
    ...ACCUMULATE,
  }),
  groupDotF32: kernel('out[r, g] (+)= dot of a[r, g, :] and b[r, g, :]', {
    a: matrix.read,
    b: matrix.read,
    out: matrix.write,
    ...GROUPS,
    ...ACCUMULATE,
  }),
  softmaxF32: kernel('y = softmax of x over groups, 0 where a mask is 0', {
    x: matrix.read,
    mask: stepped.read,
    y: matrix.write,
    ...GROUPS,
  }),
  softmaxGradF32: kernel('dx (+)= y * (dy - dot of dy and y)', {
    dy: matrix.read,
    y: matrix.read,
    dx: matrix.write,
    ...GROUPS,
    ...ACCUMULATE,
  }),
  topKF32: kernel('the k largest of each group, and where they are', {
    x: matrix.read,
    values: matrix.write,
    indices: i32(matrix.write),
    ...GROUPS,
    k: count,
  }),
  topKGradF32: kernel('gradient of topKF32', {
    dy: matrix.read,
    indices: i32(matrix.read),
    dx: matrix.write,
    ...GROUPS,
    k: count,
    ...ACCUMULATE,
  }),
});
