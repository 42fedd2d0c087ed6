/** @file Sums and largest values of rows, columns and slices, norms, and clipping by them. */
import { family, kernel } from '../kernel.js';
import { ACCUMULATE, count, f64, float, matrix, read, SIZE, write } from '../operand.js';

export const REDUCE = family('dense', {
  sumRowsF32: kernel('dst[c] (+)= sum over r of src[r,c]', { src: matrix.read, dst: write, ...SIZE, ...ACCUMULATE }),
  sumF32: kernel('dst[0] = factor * sum of src', { src: matrix.read, ...SIZE, dst: write, factor: float }),
  sumColumnsF32: kernel('out[r] = factor * sum of row r', {
    src: matrix.read,
    ...SIZE,
    out: matrix.write,
    factor: float,
  }),
  maxColumnsF32: kernel('out[r] = largest of row r', { src: matrix.read, ...SIZE, out: matrix.write }),
  maxRowsF32: kernel('dst[c] = largest of column c', { src: matrix.read, dst: write, ...SIZE }),
  reduceSlicesF32: kernel('dst[i] = sum over slices of src[slice][i], in slice order', {
    src: read,
    sliceStride: count,
    slices: count,
    dst: write,
    n: count,
  }),
  sumSquaresF64: kernel('dst[i] = sum of squares of the i-th grain of floats, as f64', {
    src: read,
    count,
    grain: count,
    dst: f64(write),
  }),
  rootOfSumF32: kernel('dst[0] = square root of the sum of f64', { src: f64(read), count, dst: write }),
  clipToNormF32: kernel('dst = src, scaled down when norm[0] is above the limit', {
    src: read,
    norm: read,
    dst: write,
    count,
    clipNorm: float,
  }),
});

export const CLIP = family('optim', {
  clipValueF32: kernel('dst = min(max(src, low), high)', { src: read, dst: write, n: count, low: float, high: float }),
  clipRowsToNormF32: kernel('clipToNormF32 of each row, by one norm', {
    src: matrix.read,
    norm: read,
    dst: matrix.write,
    ...SIZE,
    clipNorm: float,
  }),
  sumF64: kernel('dst[0] = sum of f64, in order', { src: f64(read), count, dst: f64(write) }),
  rowSquaresF64: kernel('dst[0] = sum of squares of a matrix, f64', { src: matrix.read, ...SIZE, dst: f64(write) }),
});
