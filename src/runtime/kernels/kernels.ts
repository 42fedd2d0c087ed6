/**
 * @file The table of kernels a program may call: the contract between the compiler and the backends.
 *
 * Each kernel names its operands once, with type and direction. What else is said of it follows: the words that `emit`
 * takes, the dispatch of assembly/generated/dispatch.ts, the calls of the reference, what a backend with a second
 * memory has to copy, the letters of its launches, docs/kernels.md. `npm run generate` writes what is generated.
 * Matrices are row-major f32 and a stride counts elements between rows.
 */
import { ACTIVATION, NORM } from './families/activation.js';
import { COPIES } from './families/copies.js';
import { ELEMENTWISE } from './families/elementwise.js';
import { GENERATION, IDS } from './families/ids.js';
import { INNER_ROWS } from './families/inner.js';
import { LOSS } from './families/loss.js';
import { COUNTERS, DENSE_STEPS, VARIABLE_STEPS } from './families/optim.js';
import { PRODUCTS } from './families/products.js';
import { CLIP, REDUCE } from './families/reduce.js';
import { BANKS, FILTERS, ROUTES, TABLES } from './families/tables.js';
import { type Kernel, tabled } from './kernel.js';

export type { Kernel, Operands, Word, Words, WordsFor } from './kernel.js';

export const KERNEL = tabled({
  ...ELEMENTWISE,
  ...ACTIVATION,
  ...NORM,
  ...LOSS,
  ...PRODUCTS,
  ...REDUCE,
  ...CLIP,
  ...INNER_ROWS,
  ...DENSE_STEPS,
  ...VARIABLE_STEPS,
  ...COUNTERS,
  ...GENERATION,
  ...IDS,
  ...TABLES,
  ...ROUTES,
  ...FILTERS,
  ...BANKS,
  ...COPIES,
});

export type KernelName = keyof typeof KERNEL;

export const KERNELS: ReadonlyMap<string, Kernel> = new Map(Object.entries(KERNEL));
export const KERNEL_OF_OPCODE: ReadonlyMap<number, Kernel> = new Map(
  Object.values(KERNEL).map((kernel: Kernel) => [kernel.opcode, kernel]),
);
