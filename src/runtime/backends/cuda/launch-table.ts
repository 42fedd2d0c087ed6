/**
 * @file How each CUDA kernel is launched: its module, its operands, and the grid for given operands.
 *
 * `launch-dense.ts`, `launch-inner.ts` and `launch-sparse.ts` have a line for each. Blocks have 256 threads.
 */
import { DENSE_LAUNCHES } from './launch-dense.js';
import { type CudaGrid, oneBlock } from './launch-grids.js';
import { INNER_LAUNCHES } from './launch-inner.js';
import type { CudaOperand, LaunchLine } from './launch-line.js';
import { SPARSE_LAUNCHES } from './launch-sparse.js';

export { BLOCK_THREADS } from './launch-grids.js';
export type { CudaOperand } from './launch-line.js';

export interface CudaKernel {
  readonly name: string;
  /** Name of the PTX file in cuda/ptx. */
  readonly module: string;
  readonly operands: readonly CudaOperand[];
  /** Names of the operands, which are those of its parameters in cuda/kernels. */
  readonly words: readonly string[];
  /** `multiprocessors` bounds the grid of kernels that walk; operands are given as numbers. */
  readonly grid: (operands: readonly number[], multiprocessors: number) => CudaGrid;
  /** False when blocks are tied to places of the result, so that the grid must be the one given. */
  readonly walks: boolean;
  /**
   * Floats that have to be read or written for an element of the largest matrix, or for a weight, when nothing is added
   * to what was there: a lower bound. 0 where it depends on the data.
   */
  readonly floatsPerElement: number;
}

const table = new Map<string, CudaKernel>();

/** Adds a family of kernels. */
function family(module: string, lines: readonly LaunchLine[]): void {
  for (const { name, words, operands, grid, floatsPerElement } of lines) {
    const walks = grid !== oneBlock && module !== 'gemm';
    const indexOf = (word: string) => {
      const index = words.indexOf(word);
      if (index < 0) throw new Error(`${name} has no word ${word}`);
      return index;
    };
    table.set(name, { name, module, operands, words, grid: grid(indexOf), walks, floatsPerElement });
  }
}

for (const families of [DENSE_LAUNCHES, INNER_LAUNCHES, SPARSE_LAUNCHES]) {
  for (const [module, lines] of Object.entries(families)) family(module, lines);
}

/** All CUDA kernels by name. */
export const CUDA_KERNELS: ReadonlyMap<string, CudaKernel> = table;
