// Matrix product over general strides: one kernel serves the forward pass, the weight gradient and the input
// gradient.
import { microColumn16, microColumn4, microTile } from "./gemm-micro";
import { packA, packB } from "./gemm-pack";

// Block sizes: a B panel (8 x K) and an A panel (4 x K) stay in L1, the A block (M x K) and the B block (K x N) in
// L2.
const BLOCK_M: i32 = 192;
const BLOCK_N: i32 = 512;
const BLOCK_K: i32 = 512;
/** Up to this many columns beyond the last full tile are done one by one; from there a padded tile is cheaper. */
const LONE_COLUMNS_MAX: i32 = 2;
const TILE_BYTES: usize = 128;

/** Length of the blocks of k: equal parts, so that no thin block is left over. The result does not depend on it. */
@inline
function blockK(k: i32): i32 {
  const blocks = (k + BLOCK_K - 1) / BLOCK_K;
  return blocks > 1 ? (k + blocks - 1) / blocks : k;
}

@inline
function packedABytes(m: i32, k: i32): usize {
  return <usize>((min(m, BLOCK_M) + 3) & ~3) * <usize>blockK(k) * 4;
}

@inline
function packedBBytes(n: i32, k: i32): usize {
  return <usize>((min(n, BLOCK_N) + 7) & ~7) * <usize>blockK(k) * 4;
}

/** Bytes of scratch gemmF32 needs for this size, at any 4-byte alignment (a multiple of 64 is quickest). */
export function gemmScratchBytes(m: i32, n: i32, k: i32): usize {
  return TILE_BYTES + packedABytes(m, k) + packedBBytes(n, k);
}

/** Copies `rows` x `cols` floats between C and the tile buffer of 8 floats per row. */
@inline
function copyTile(src: usize, srcStep: usize, dst: usize, dstStep: usize, rows: i32, cols: i32): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      store<f32>(dst + (<usize>c << 2), load<f32>(src + (<usize>c << 2)));
    }
    src += srcStep;
    dst += dstStep;
  }
}

/** Packed A block times the packed B panels of the full tiles, and of the padded last one when `cols` ends in it. */
function multiplyTiles(
  pa: usize, pb: usize, c: usize, cStep: usize, rows: i32, cols: i32, k: i32, acc: bool, tile: usize,
): void {
  for (let j = 0; j < cols; j += 8) {
    const b = pb + <usize>j * <usize>k * 4;
    const tileCols = min(8, cols - j);
    for (let i = 0; i < rows; i += 4) {
      const a = pa + <usize>i * <usize>k * 4;
      const at = c + <usize>i * cStep + (<usize>j << 2);
      const tileRows = min(4, rows - i);
      if (tileRows == 4 && tileCols == 8) {
        microTile(k, a, b, at, cStep, acc);
      } else {
        if (acc) copyTile(at, cStep, tile, 32, tileRows, tileCols);
        microTile(k, a, b, tile, 32, acc);
        copyTile(tile, 32, at, cStep, tileRows, tileCols);
      }
    }
  }
}

/** Packed A block times one column of B, taken as it lies. */
function multiplyColumn(
  pa: usize, b: usize, bStep: usize, c: usize, cStep: usize, rows: i32, k: i32, acc: bool, tile: usize,
): void {
  const panelBytes = <usize>k << 4;
  let i = 0;
  while (i < rows) {
    const a = pa + <usize>i * <usize>k * 4;
    const count = rows - i >= 16 ? 16 : min(4, rows - i);
    const at = c + <usize>i * cStep;
    if (acc) copyTile(at, cStep, tile, 4, count, 1);
    if (count == 16) microColumn16(k, a, panelBytes, b, bStep, tile, acc);
    else microColumn4(k, a, b, bStep, tile, acc);
    copyTile(tile, 4, at, cStep, count, 1);
    i += count;
  }
}

/**
 * C (+)= A * B with A of m x k and B of k x n; element (i, j) of an operand is at i * rowStride + j * colStride
 * floats.
 *
 * c[i, j] is summed over k in increasing order, from c[i, j] when `acc` is set and from 0 otherwise, one f32 multiply
 * and one f32 add per step. Packed panels live in `scratch` (gemmScratchBytes). C must not overlap A, B or scratch.
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
  const kBlock = blockK(k);
  const tile = scratch;
  const pa = tile + TILE_BYTES;
  const pb = pa + packedABytes(m, k);
  for (let j0 = 0; j0 < n; j0 += BLOCK_N) {
    const cols = min(BLOCK_N, n - j0);
    const odd = cols & 7;
    const tiled = odd <= LONE_COLUMNS_MAX ? cols - odd : cols;
    for (let k0 = 0; k0 < k; k0 += kBlock) {
      const steps = min(kBlock, k - k0);
      const add = acc != 0 || k0 > 0;
      const bBlock = b + <usize>k0 * bRowStep + <usize>j0 * bColStep;
      packB(bBlock, bColStep, bRowStep, tiled, steps, pb);
      for (let i0 = 0; i0 < m; i0 += BLOCK_M) {
        const rows = min(BLOCK_M, m - i0);
        const cBlock = c + <usize>i0 * cStep + (<usize>j0 << 2);
        packA(a + <usize>i0 * aRowStep + <usize>k0 * aColStep, aRowStep, aColStep, rows, steps, pa);
        multiplyTiles(pa, pb, cBlock, cStep, rows, tiled, steps, add, tile);
        for (let j = tiled; j < cols; j++) {
          const column = bBlock + <usize>j * bColStep;
          multiplyColumn(pa, column, bRowStep, cBlock + (<usize>j << 2), cStep, rows, steps, add, tile);
        }
      }
    }
  }
}
