/**
 * @file Kernels over the ids of a slice: unique ones, how often they came, whose they are, and rows pooled per example.
 */
import { family, kernel } from '../kernel.js';
import {
  count,
  hostScratch,
  i32,
  i64,
  matrix,
  read,
  records,
  rowAddresses,
  SIZE,
  scratch,
  u32,
  update,
  words,
  write,
} from '../operand.js';

/** The scratch table in which ids are found again, and where unique ones go. */
const UNIQUE = {
  table: words(update),
  tableMask: count,
  generation: count,
  base: count,
  uids: i64(update),
  inverse: u32(write),
} as const;
/** Which unique id the values are, and where those of an example begin. */
const RAGGED = { inverse: u32(read), splits: i32(read), rows: count, dim: count } as const;
/** Sums of gradients by unique id. */
const SUMS = { ugrad: matrix.update, scratch: hostScratch } as const;
const POOL = { rowPtrs: rowAddresses, ...RAGGED, out: matrix.write } as const;
const SCATTER = { grad: matrix.read, ...RAGGED, ...SUMS } as const;
/** Which unique ids the columns of a matrix are, and what is moved between their rows and matrices. */
const PIECES = { inverse: u32(read), idsPerRow: count, rows: count, pieces: records, pieceCount: count } as const;

export const GENERATION = family('counts', {
  advanceGeneration: kernel(
    'empties a unique scratch table by a new generation',
    { cell: u32(update), table: words(update), cells: count },
    { result: 'the generation' },
  ),
  shareOf: kernel(
    'how many of what is counted are a share of them',
    { count: u32(read), share: count, shares: count },
    { result: 'how many' },
  ),
  shareAt: kernel(
    'where that share of a list begins',
    { base: count, count: u32(read), share: count, shares: count, bytes: count },
    { result: 'the address' },
  ),
});

export const IDS = family('sparse', {
  uniqueI64: kernel(
    'unique ids in first-seen order, with inverse',
    { ids: i64(read), n: count, ...UNIQUE },
    { result: 'unique ids so far', extents: { inverse: [4, 'n'] } },
  ),
  uniqueColumnsI64: kernel(
    'uniqueI64 of columns of a matrix of ids',
    { ids: i64(matrix.read), rows: count, columns: u32(read), columnCount: count, ...UNIQUE },
    { result: 'unique ids so far', extents: { inverse: [4, 'rows', 'columnCount'] } },
  ),
  countInverseU32: kernel('how often each unique id came', { inverse: u32(read), n: count, counts: u32(update) }),
  countColumnsU32: kernel('countInverseU32 of the inverse of columns', {
    inverse: u32(read),
    rows: count,
    columns: count,
    counts: u32(update),
  }),
  partitionByHash: kernel('indexes of ids, grouped by the partition of their hash', {
    uids: i64(read),
    n: count,
    partitions: count,
    order: u32(write),
    offsets: u32(write),
  }),
  numberRepeatsU32: kernel('numbers the distinct ids of each column of an inverse', {
    inverse: u32(read),
    columns: count,
    rows: count,
    map: scratch,
    numbers: u32(write),
    order: u32(write),
    starts: u32(write),
    stride: count,
    counts: u32(write),
  }),
  zeroRowsF32: kernel('dst = 0', { dst: matrix.write, ...SIZE }, { extents: { dst: [4, 'dstStride', 'rows'] } }),
  poolSumF32: kernel('out[r,:] = sum of the rows of the ids of example r', POOL),
  poolMeanF32: kernel('out[r, :] = mean of the rows of the ids of example r', POOL),
  scatterAddF32: kernel('gradient of poolSumF32, added per unique id', SCATTER, { extents: { ugrad: 'within' } }),
  scatterMeanF32: kernel('gradient of poolMeanF32, added per unique id', SCATTER, { extents: { ugrad: 'within' } }),
  seqMaskF32: kernel('dst[r, j] = 1 where example r has a j-th id', {
    splits: i32(read),
    rows: count,
    n: count,
    dst: matrix.write,
  }),
  firstNF32: kernel('out[r, j, :] = the row of the j-th id of example r', {
    rowPtrs: rowAddresses,
    ...RAGGED,
    n: count,
    out: matrix.write,
  }),
  firstNGradF32: kernel(
    'gradient of firstNF32, added per unique id',
    { grad: matrix.read, ...RAGGED, n: count, ...SUMS },
    { extents: { ugrad: 'within' } },
  ),
  gatherSlicesF32: kernel('slices of the rows of ids to the matrices of their features', {
    rowPtrs: rowAddresses,
    ...PIECES,
  }),
  scatterSlicesF32: kernel(
    'gradient of gatherSlicesF32, added per unique id',
    { ...PIECES, sums: matrix.update, scratch: hostScratch },
    { extents: { sums: 'within' } },
  ),
});
