// Sizes of tiles and blocks. Not exported by the module.
import { CHAIN_K, SUM_K } from "../generated/layouts";
import {
  tile4x8, tile6x16, tileAdd4x8, tileAdd6x16, tileCrossed4x8, tileCrossed6x16, tileCrossedAdd4x8, tileCrossedAdd6x16,
} from "./gemm-tiles";

/** The module for engines that join vectors to 256 bits is built with `--use GEMM_WIDE=1`. */
const WIDE: bool = isDefined(GEMM_WIDE);

export const TILE_ROWS: i32 = WIDE ? 6 : 4;
export const TILE_COLS: i32 = WIDE ? 16 : 8;
export const TILE_BYTES: usize = <usize>(TILE_ROWS * TILE_COLS * 4);
export const TILE_STEP: usize = <usize>(TILE_COLS * 4);

// Block sizes: a panel of A and one of B stay in L1, the A block (M x K) and most of the B block (K x N) in L2.
export const BLOCK_M: i32 = 192;
export const BLOCK_N: i32 = 512;
/** A longer k is a batch: each element is then a sum of sums over blocks, and not one long chain of roundings. */
export const BLOCK_K: i32 = CHAIN_K;

/** Length of the blocks of k: all of it, or equal parts of at most SUM_K, so that no thin block is left over. */
@inline
export function blockK(k: i32): i32 {
  if (k <= BLOCK_K) return k;
  const blocks = (k + SUM_K - 1) / SUM_K;
  return (k + blocks - 1) / blocks;
}

/** One tile of C from one panel of A and one of B. */
@inline
export function multiplyTile(k: i32, a: usize, b: usize, c: usize, cStep: usize, acc: bool): void {
  if (WIDE) {
    if (acc) tileAdd6x16(k, a, b, c, cStep);
    else tile6x16(k, a, b, c, cStep);
  } else {
    if (acc) tileAdd4x8(k, a, b, c, cStep);
    else tile4x8(k, a, b, c, cStep);
  }
}

/** One tile of C from rows of A that were packed as the other side of a product, in panels `aStep` bytes apart. */
@inline
export function multiplyCrossed(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize, acc: bool): void {
  if (WIDE) {
    if (acc) tileCrossedAdd6x16(k, a, aStep, b, c, cStep);
    else tileCrossed6x16(k, a, aStep, b, c, cStep);
  } else {
    if (acc) tileCrossedAdd4x8(k, a, aStep, b, c, cStep);
    else tileCrossed4x8(k, a, aStep, b, c, cStep);
  }
}
