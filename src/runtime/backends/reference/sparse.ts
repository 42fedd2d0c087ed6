/**
 * @file Plain TypeScript twins of assembly/sparse: the meaning of each kernel, over the same pointers.
 *
 * Float results are the bits of the WASM version: one f32 rounding per operation, in the same order.
 */

import { mix64, mix64BigInt, partitionOfHash } from '../../../memory/hash.js';
import { COPY_ROWS, COPY_ROWS_WORDS, UNIQUE_CELL, UNIQUE_CELL_BYTES } from '../../../memory/record-layout.js';
import { secretOf } from '../../../memory/secret.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import { IdSums } from './id-sums.js';
import { twin } from './twin.js';

export { numberRepeatsU32 } from './repeats.js';
export { gatherSlicesF32, scatterSlicesF32 } from './slices.js';
export * from './sparse-sequence.js';

/** Cells for at most `maxIds` distinct ids: a power of two, at most half full, at least 64. */
export function uniqueTableCells(_m: Views, maxIds: number): number {
  let cells = 64;
  while (cells < maxIds * 2) cells *= 2;
  return cells;
}

export const countColumnsU32 = twin(KERNEL.countColumnsU32, (m, { inverse, rows, columns, counts }) => {
  countInverseU32(m, inverse, rows * columns, counts);
});

export const countInverseU32 = twin(KERNEL.countInverseU32, (m, { inverse, n, counts }) => {
  for (let i = 0; i < n; i++) m.u32[counts / 4 + m.u32[inverse / 4 + i]!]!++;
});

/**
 * uids[base..result) = ids not seen yet in this generation, in first-seen order; inverse[i] = index of ids[i] in uids.
 *
 * `base` is the number of unique ids that earlier calls of this generation left in uids. A table cell of another
 * generation is empty, so the table is never cleared between calls; generation 0 is never used, and before the counter
 * would pass 2^32 - 1 the caller zeroes the table and starts again at 1. Returns the unique count, -1 when the table is
 * full.
 */
export const uniqueI64 = twin(KERNEL.uniqueI64, (m, { ids, n, table, tableMask, generation, base, uids, inverse }) => {
  const secret = secretOf(m);
  let count = base;
  for (let i = 0; i < n; i++) {
    const key = m.i64[ids / 8 + i]!;
    const home = Number(mix64BigInt(key, secret) & BigInt(tableMask));
    let cell = home;
    const at = () => table + cell * UNIQUE_CELL_BYTES;
    while (m.u32[at() / 4 + UNIQUE_CELL.generation] === generation >>> 0 && m.i64[at() / 8] !== key) {
      cell = ((cell + 1) & tableMask) >>> 0;
      if (cell === home) return -1;
    }
    if (m.u32[at() / 4 + UNIQUE_CELL.generation] !== generation >>> 0) {
      m.i64[at() / 8] = key;
      m.u32[at() / 4 + UNIQUE_CELL.generation] = generation;
      m.u32[at() / 4 + UNIQUE_CELL.index] = count;
      m.i64[uids / 8 + count++] = key;
    }
    m.i32[inverse / 4 + i] = m.u32[at() / 4 + UNIQUE_CELL.index]!;
  }
  return count;
});

/** uniqueI64 of some columns of i64[rows][stride], one after the other; inverse[r, j] is of ids[r, columns[j]]. */
export const uniqueColumnsI64 = twin(
  KERNEL.uniqueColumnsI64,
  (m, { ids, idsStride: stride, rows, columns, columnCount, table, tableMask, generation, base, uids, inverse }) => {
    let count = base;
    for (let j = 0; j < columnCount; j++) {
      const column = m.u32[columns / 4 + j]!;
      for (let r = 0; r < rows && count >= 0; r++) {
        const id = ids + (r * stride + column) * 8;
        const to = inverse + (r * columnCount + j) * 4;
        count = uniqueI64(m, id, 1, table, tableMask, generation, count, uids, to);
      }
    }
    return count;
  },
);

/** order[offsets[p]..offsets[p + 1]) = indexes of the ids whose hash has top bits p, ascending. */
export const partitionByHash = twin(KERNEL.partitionByHash, (m, { uids, n, partitions, order, offsets }) => {
  const hash = new Uint32Array(2);
  const members: number[][] = Array.from({ length: partitions }, () => []);
  for (let i = 0; i < n; i++) {
    mix64(m.u32[uids / 4 + 2 * i]!, m.u32[uids / 4 + 2 * i + 1]!, hash);
    members[partitionOfHash(hash[1]!, partitions)]!.push(i);
  }
  let at = 0;
  members.forEach((indexes, p) => {
    m.u32[offsets / 4 + p] = at;
    for (const index of indexes) m.u32[order / 4 + at++] = index;
  });
  m.u32[offsets / 4 + partitions] = at;
});

/** out[i] = ids[order[i]]. */
export function gatherI64(m: Views, ids: number, order: number, n: number, out: number): void {
  for (let i = 0; i < n; i++) m.i64[out / 8 + i] = m.i64[ids / 8 + m.u32[order / 4 + i]!]!;
}

function pool(
  m: Views,
  rowPtrs: number,
  inverse: number,
  splits: number,
  rows: number,
  dim: number,
  out: number,
  outStride: number,
  mean: boolean,
): void {
  const first = m.i32[splits / 4]!;
  for (let r = 0; r < rows; r++) {
    const begin = m.i32[splits / 4 + r]!;
    const end = m.i32[splits / 4 + r + 1]!;
    for (let c = 0; c < dim; c++) {
      let sum = 0;
      for (let j = begin; j < end; j++) {
        const row = m.u32[rowPtrs / 4 + m.i32[inverse / 4 + j - first]!]!;
        sum = Math.fround(sum + m.f32[row / 4 + c]!);
      }
      m.f32[out / 4 + r * outStride + c] = mean ? sum / Math.max(end - begin, 1) : sum;
    }
  }
}

/**
 * out[r, :] = sum over j of splits[r]..splits[r + 1] of the f32 row at rowPtrs[inverse[j - splits[0]]]; empty row:
 * zeros.
 */
export const poolSumF32 = twin(KERNEL.poolSumF32, (m, { rowPtrs, inverse, splits, rows, dim, out, outStride }) => {
  pool(m, rowPtrs, inverse, splits, rows, dim, out, outStride, false);
});

/** As poolSumF32, then divided by the number of values of the row; an empty row is zeros. */
export const poolMeanF32 = twin(KERNEL.poolMeanF32, (m, { rowPtrs, inverse, splits, rows, dim, out, outStride }) => {
  pool(m, rowPtrs, inverse, splits, rows, dim, out, outStride, true);
});

function scatter(
  m: Views,
  grad: number,
  gradStride: number,
  inverse: number,
  splits: number,
  rows: number,
  dim: number,
  ugrad: number,
  ugradStride: number,
  scratch: number,
  mean: boolean,
): void {
  const first = m.i32[splits / 4]!;
  const blocks = IdSums.of(m, scratch, m.i32[splits / 4 + rows]! - first, ugrad, ugradStride, dim);
  for (let r = 0; r < rows; r++) {
    const begin = m.i32[splits / 4 + r]!;
    const end = m.i32[splits / 4 + r + 1]!;
    for (let j = begin; j < end; j++) {
      const id = m.i32[inverse / 4 + j - first]!;
      const target = ugrad / 4 + id * ugradStride;
      for (let c = 0; c < dim; c++) {
        const g = m.f32[grad / 4 + r * gradStride + c]!;
        m.f32[target + c] = m.f32[target + c]! + (mean ? Math.fround(g / (end - begin)) : g);
      }
      blocks?.note(id);
    }
  }
  blocks?.end();
}

/**
 * ugrad[inverse[j - splits[0]], :] += grad[r, :] for every row r and every j of it, in that order; of many ids in
 * blocks.
 */
export const scatterAddF32 = twin(
  KERNEL.scatterAddF32,
  (m, { grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride, scratch }) => {
    scatter(m, grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride, scratch, false);
  },
);

/** As scatterAddF32 with grad[r, :] divided by the number of values of row r. */
export const scatterMeanF32 = twin(
  KERNEL.scatterMeanF32,
  (m, { grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride, scratch }) => {
    scatter(m, grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride, scratch, true);
  },
);

/** out[i, :] = the f32 row at address rowPtrs[i]. Moves words, so that a NaN keeps its bits. */
export function gatherRowsF32(m: Views, rowPtrs: number, n: number, dim: number, out: number, outStride: number): void {
  for (let i = 0; i < n; i++) {
    const row = m.u32[rowPtrs / 4 + i]! / 4;
    m.u32.copyWithin(out / 4 + i * outStride, row, row + dim);
  }
}

/** dst[:] += src[:] over `dim` floats. */
export function addRowF32(m: Views, src: number, dst: number, dim: number): void {
  for (let c = 0; c < dim; c++) m.f32[dst / 4 + c] = m.f32[dst / 4 + c]! + m.f32[src / 4 + c]!;
}

/** dst[r, 0..cols) = 0 for each row; what lies between the rows stays. */
export const zeroRowsF32 = twin(KERNEL.zeroRowsF32, (m, { dst, dstStride: stride, rows, cols }) => {
  for (let r = 0; r < rows; r++) m.f32.fill(0, dst / 4 + r * stride, dst / 4 + r * stride + cols);
});

/** out[j - splits[0]] = r for every j of splits[r]..splits[r + 1]. Mirrors fused_value_rowids. */
export function rowIdsFromSplits(m: Views, splits: number, rows: number, out: number): void {
  const first = m.i32[splits / 4]!;
  for (let r = 0; r < rows; r++) {
    m.i32.fill(r, out / 4 + m.i32[splits / 4 + r]! - first, out / 4 + m.i32[splits / 4 + r + 1]! - first);
  }
}

/** The same with i64 splits and i64 row ids. */
export function rowIdsFromSplitsI64(m: Views, splits: number, rows: number, out: number): void {
  const at = (r: number) => out / 8 + Number(m.i64[splits / 8 + r]! - m.i64[splits / 8]!);
  for (let r = 0; r < rows; r++) m.i64.fill(BigInt(r), at(r), at(r + 1));
}

/** Copies pieces described by three u32 words each: src, dst, bytes. Targets overlap neither sources nor each other. */
export const copyPieces = twin(KERNEL.copyPieces, (m, { descriptors, count }) => {
  for (let i = 0; i < count; i++) {
    const at = descriptors / 4 + 3 * i;
    const src = m.u32[at]!;
    m.u8.copyWithin(m.u32[at + 1]!, src, src + m.u32[at + 2]!);
  }
  return 0;
});

/** Copies rows of matrices, described by COPY_ROWS. */
export const copyMatrices = twin(KERNEL.copyMatrices, (m, { descriptors, count }) => {
  for (let i = 0; i < count; i++) {
    const word = (name: keyof typeof COPY_ROWS) => m.u32[descriptors / 4 + COPY_ROWS_WORDS * i + COPY_ROWS[name]]!;
    for (let r = 0; r < word('rows'); r++) {
      const from = word('from') + r * word('fromBytes');
      m.u8.copyWithin(word('to') + r * word('toBytes'), from, from + word('bytes'));
    }
  }
  return 0;
});
