/**
 * @file Grids of CUDA launches, by the names of the words that decide them.
 *
 * Kernels walk with a stride of the whole grid, so a grid is a matter of speed only, except that of the matrix
 * products, where a block makes one tile.
 */
import { MonolithError } from '../../../base/errors.js';

export type CudaGrid = readonly [x: number, y: number];
/** The grid for operands given as numbers; `multiprocessors` bounds that of kernels that walk. */
export type Grid = (operands: readonly number[], multiprocessors: number) => CudaGrid;
/** A grid of a kernel that has the words `W`, which are at these indexes of its operands. */
export type GridOf<W extends string> = (indexOf: (word: W) => number) => Grid;

export const BLOCK_THREADS = 256;
/** Blocks that fill a multiprocessor of 2048 threads. */
const BLOCKS_PER_MULTIPROCESSOR = 8;
/** Rows and columns of a matrix product that a block makes. */
export const GEMM_TILE = 64;
const ELEMENTS_MAX = 2 ** 31;

type Values<W extends readonly string[]> = { readonly [I in keyof W]: number };

/** As many blocks as pay, of those that fill the device. */
function walking<const W extends readonly string[]>(
  words: W,
  wanted: (...values: Values<W>) => number,
): GridOf<W[number]> {
  return (indexOf) => {
    const indexes = words.map(indexOf);
    return (operands, multiprocessors) => {
      // A value for each word: a map over a tuple is typed as a list.
      const values = indexes.map((index) => operands[index]!) as unknown as Values<W>;
      const most = multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
      return [Math.max(1, Math.min(Math.ceil(wanted(...values)), most)), 1];
    };
  };
}

/** Threads that pay for the values of these words. */
export function threads<const W extends readonly string[]>(
  words: W,
  count: (...values: Values<W>) => number,
): GridOf<W[number]> {
  return walking(words, (...values) => count(...values) / BLOCK_THREADS);
}

export function product(a: number, b: number): number {
  if (a * b < ELEMENTS_MAX) return a * b;
  const reason = `${a} x ${b} elements are more than 2^31 - 1`;
  throw new MonolithError('ML_CUDA_LAUNCH', { kernel: 'of a matrix', reason }, { hint: 'use a smaller batch' });
}

/** A thread for each element of rows x cols. */
export const elements = <W extends string>(rows: W, cols: W) => threads([rows, cols], product);
/** A thread for every four elements where rows are whole quads. */
export const quads = <W extends string>(rows: W, cols: W) =>
  threads([rows, cols], (r, c) => product(r, c) / (c % 4 === 0 ? 4 : 1));
export const count = <W extends string>(word: W) => threads([word], (n) => n);
/** A thread for every four weights. */
export const weights = <W extends string>(word: W) => threads([word], (n) => n / 4);
/** `lanes` threads for each row. */
export const perRow = <W extends string>(rows: W, lanes: number) => threads([rows], (r) => r * lanes);
/** A thread for each of the products of these words. */
export const products = <W extends string>(first: W, ...more: W[]) =>
  threads([first, ...more] as W[], (...values: number[]) =>
    product(
      values.slice(1).reduce((all, value) => all * value, 1),
      values[0]!,
    ),
  );

/** As many lanes per row as it has units, a power of two, at most a warp: laneBits of cuda/kernels/common.cuh. */
function lanesOf(units: number): number {
  return units <= 1 ? 1 : Math.min(32, 2 ** (32 - Math.clz32(units - 1)));
}
export const lanesPerRow = <W extends string>(rows: W, dim: W, unit: 1 | 4) =>
  threads([rows, dim], (r, d) => r * lanesOf(d % unit === 0 ? d / unit : d));

/** A block for every `size` of a word. */
export const blocks = <W extends string>(word: W, size: number) => walking([word], (n) => n / size);
/** A block for each grain. */
export const grains = <W extends string>(all: W, grain: W) => walking([all, grain], (n, size) => n / size);
export const oneBlock: GridOf<never> = () => () => [1, 1];
/** A block for each tile of a product. */
export const tiles =
  <W extends string>(m: W, n: W): GridOf<W> =>
  (indexOf) =>
  (operands) => [
    Math.max(1, Math.ceil(operands[indexOf(n)]! / GEMM_TILE)),
    Math.max(1, Math.ceil(operands[indexOf(m)]! / GEMM_TILE)),
  ];
