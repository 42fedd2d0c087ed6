// Matrix product over general strides: one kernel serves the forward pass, the weight gradient and the input
// gradient.
import { multiplyColumn } from "./gemm-column";
import { multiplyBlock, packColumns, packRows, panels } from "./gemm-block";
import { blockK, BLOCK_K, BLOCK_M, BLOCK_N, TILE_BYTES, TILE_COLS, TILE_ROWS } from "./gemm-shape";

/** Up to this many rows or columns are done one by one; from there a padded tile is cheaper. */
const LONE_MAX: i32 = 2;

/** Bytes of packed rows of A, in blocks `kBlock` long. */
@inline
function packedABytes(m: i32, kBlock: i32): usize {
  return <usize>(panels(min(m, BLOCK_M), TILE_ROWS) * TILE_ROWS) * <usize>kBlock * 4;
}

@inline
function packedBBytes(n: i32, kBlock: i32): usize {
  return <usize>(panels(min(n, BLOCK_N), TILE_COLS) * TILE_COLS) * <usize>kBlock * 4;
}

/**
 * Bytes of scratch gemmF32 needs for this size and all smaller ones, at any 4-byte alignment (a multiple of 64 is
 * quickest). Blocks of a shorter k may be longer, so the longest counts.
 */
export function gemmScratchBytes(m: i32, n: i32, k: i32): usize {
  const kBlock = min(k, BLOCK_K);
  return TILE_BYTES + packedABytes(m, kBlock) + packedBBytes(n, kBlock);
}

/**
 * C (+)= A * B with A of m x k and B of k x n; element (i, j) of an operand is at i * rowStride + j * colStride
 * floats.
 *
 * All steps of k, or blocks of at most 256 of more than 512 (blockK), are summed from 0 in increasing order, in steps
 * of `madd`, and their sums are added up in order, to c[i, j] when `acc` is set. So a row of C is the same whatever
 * rows it is computed with. Packed panels live in `scratch` (gemmScratchBytes). C must not overlap A, B or scratch.
 */
export function gemmF32(
  a: usize, aRowStride: i32, aColStride: i32, b: usize, bRowStride: i32, bColStride: i32, c: usize, cStride: i32,
  m: i32, n: i32, k: i32, acc: i32, scratch: usize,
): void {
  const cStep = <usize>cStride << 2;
  if (k <= 0) {
    if (!acc) for (let i = 0; i < m; i++) memory.fill(c + <usize>i * cStep, 0, <usize>n << 2);
    return;
  }
  const aRowStep = <usize>aRowStride << 2;
  const aColStep = <usize>aColStride << 2;
  const bRowStep = <usize>bRowStride << 2;
  const bColStep = <usize>bColStride << 2;
  const tile = scratch;
  if (m <= LONE_MAX && n > LONE_MAX) {
    // Row i of C is column i of its transpose: the columns of B times row i of A.
    for (let i = 0; i < m; i++) {
      const row = c + <usize>i * cStep;
      multiplyColumn(b, bColStep, bRowStep, a + <usize>i * aRowStep, aColStep, row, 4, n, k, acc != 0, tile);
    }
    return;
  }
  const odd = n % TILE_COLS;
  const tiled = odd <= LONE_MAX ? n - odd : n;
  for (let j = tiled; j < n; j++) {
    const column = c + (<usize>j << 2);
    multiplyColumn(a, aRowStep, aColStep, b + <usize>j * bColStep, bRowStep, column, cStep, m, k, acc != 0, tile);
  }
  const kBlock = blockK(k);
  const pa = tile + TILE_BYTES;
  const pb = pa + packedABytes(m, kBlock);
  for (let j0 = 0; j0 < tiled; j0 += BLOCK_N) {
    const cols = min(BLOCK_N, tiled - j0);
    for (let k0 = 0; k0 < k; k0 += kBlock) {
      const steps = min(kBlock, k - k0);
      const add = acc != 0 || k0 > 0;
      packColumns(b + <usize>k0 * bRowStep + <usize>j0 * bColStep, bColStep, bRowStep, cols, steps, pb);
      for (let i0 = 0; i0 < m; i0 += BLOCK_M) {
        const rows = min(BLOCK_M, m - i0);
        packRows(a + <usize>i0 * aRowStep + <usize>k0 * aColStep, aRowStep, aColStep, rows, steps, pa);
        multiplyBlock(pa, pb, c + <usize>i0 * cStep + (<usize>j0 << 2), cStep, rows, cols, steps, add, tile);
      }
    }
  }
}
