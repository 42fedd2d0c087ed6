/**
 * @file What a family of CUDA kernels says of each: its operands, and the grid for given operands.
 *
 * A kernel of src/runtime/kernels takes the words of its entry there, in the same order; those that are addresses have
 * 64 bits. The words of kernels that only a device has are here.
 */
import type { WordName } from '../../kernels/kernel.js';
import type { Kernel, Operands } from '../../kernels/kernels.js';
import type { GridOf } from './launch-grids.js';

/** `p` is a device address, `u` a count, stride or flag of 32 bits, `f` a float of 32 bits. */
export type CudaOperand = 'p' | 'u' | 'f';

/** Lines by the name of the PTX file in cuda/ptx. */
export type LaunchFamilies = Readonly<Record<string, readonly LaunchLine[]>>;

/** A kernel as its family names it. */
export interface LaunchLine {
  readonly name: string;
  readonly words: readonly string[];
  readonly operands: readonly CudaOperand[];
  readonly grid: GridOf<string>;
  readonly floatsPerElement: number;
}

const LETTERS = { address: 'p', count: 'u', float: 'f' } as const;

/** A kernel of the kernel table. */
export function shared<O extends Operands>(
  kernel: Kernel<O>,
  grid: GridOf<WordName<O>>,
  floatsPerElement: number,
): LaunchLine {
  const { name, words } = kernel;
  const operands = words.map(({ kind }) => LETTERS[kind]);
  return { name, words: words.map((word) => word.name), operands, grid: grid as GridOf<string>, floatsPerElement };
}

/** A kernel that only a device has. Its words are named as its parameters: `*` is an address, `~` a float. */
export function own(name: string, parameters: string, grid: GridOf<string>, floatsPerElement: number): LaunchLine {
  const all = parameters.split(' ');
  const operands = all.map((word): CudaOperand => (word.startsWith('*') ? 'p' : word.startsWith('~') ? 'f' : 'u'));
  return { name, words: all.map((word) => word.replace(/^[*~]/, '')), operands, grid, floatsPerElement };
}
