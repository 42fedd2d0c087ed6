// Packed operands and the product of two packed blocks. Not exported by the module.
import { pack } from "./gemm-pack";
import { blockK, multiplyCrossed, multiplyTile, TILE_COLS, TILE_ROWS, TILE_STEP } from "./gemm-shape";

@inline
export function panels(count: i32, width: i32): i32 {
  return (count + width - 1) / width;
}

export function packRows(src: usize, rowStep: usize, kStep: usize, rows: i32, k: i32, out: usize): void {
  pack(src, rowStep, kStep, rows, TILE_ROWS, k, out);
}

export function packColumns(src: usize, columnStep: usize, kStep: usize, columns: i32, k: i32, out: usize): void {
  pack(src, columnStep, kStep, columns, TILE_COLS, k, out);
}

/** Copies `rows` x `cols` floats between C and the tile buffer. */
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

/** Packed A block times packed B panels. Tiles that C does not fill go through `tile`. */
export function multiplyBlock(
  pa: usize, pb: usize, c: usize, cStep: usize, rows: i32, cols: i32, k: i32, acc: bool, tile: usize,
): void {
  multiplyPanels(pa, <usize>k << 2, 0, pb, c, cStep, rows, cols, k, 0, acc, tile, false);
}

/** The same of any k, in the blocks that gemmF32 has. */
export function multiplyBlocks(
  pa: usize, pb: usize, c: usize, cStep: usize, rows: i32, cols: i32, k: i32, acc: bool, tile: usize,
): void {
  multiplyPanels(pa, <usize>k << 2, 0, pb, c, cStep, rows, cols, k, blockK(k), acc, tile, false);
}

/**
 * The same of an A that was packed as the other side of a product: panels of TILE_COLS of its columns, `aStep` bytes
 * apart, with row after row in each. There are rows for whole tiles.
 */
export function multiplyCrossedBlock(
  pa: usize, aStep: usize, pb: usize, c: usize, cStep: usize, rows: i32, cols: i32, k: i32, acc: bool, tile: usize,
): void {
  multiplyPanels(pa, <usize>TILE_COLS << 2, aStep, pb, c, cStep, rows, cols, k, 0, acc, tile, true);
}

/** `kBlock` is the length of the blocks of k, or the constant 0 for one of all. */
@inline
function multiplyPanels(
  pa: usize, rowBytes: usize, aStep: usize, pb: usize, c: usize, cStep: usize, rows: i32, cols: i32, k: i32,
  kBlock: i32, acc: bool,
  tile: usize, crossed: bool,
): void {
  for (let j = 0; j < cols; j += TILE_COLS) {
    const b = pb + <usize>j * <usize>k * 4;
    const tileCols = min(TILE_COLS, cols - j);
    for (let i = 0; i < rows; i += TILE_ROWS) {
      const a = pa + <usize>i * rowBytes;
      const at = c + <usize>i * cStep + (<usize>j << 2);
      const tileRows = min(TILE_ROWS, rows - i);
      const whole = tileRows == TILE_ROWS && tileCols == TILE_COLS;
      const to = whole ? at : tile, step = whole ? cStep : TILE_STEP;
      if (!whole && acc) copyTile(at, cStep, tile, TILE_STEP, tileRows, tileCols);
      if (crossed) multiplyCrossed(k, a, aStep, b, to, step, acc);
      else multiplyTile(kBlock == 0 ? k : kBlock, a, b, to, step, acc);
      if (kBlock != 0) {
        for (let k0 = kBlock; k0 < k; k0 += kBlock) {
          const from = <usize>k0 << 2;
          multiplyTile(min(kBlock, k - k0), a + from * <usize>TILE_ROWS, b + from * <usize>TILE_COLS, to, step, true);
        }
      }
      if (!whole) copyTile(tile, TILE_STEP, at, cStep, tileRows, tileCols);
    }
  }
}
