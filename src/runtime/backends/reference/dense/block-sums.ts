/**
 * @file Sums in blocks, as the kernels have them: a chain over a whole batch would be off by as many roundings as it is
 * long.
 */

import { CHAIN_K, SUM_BLOCK, SUM_K } from '../../../../memory/sum-blocks.js';

const f = Math.fround;

/** Terms of a block, in order, from 0; then the sums of the blocks, in order. */
export function sumInBlocks(count: number, block: number, term: (index: number) => number): number {
  let total = 0;
  for (let first = 0; first < count; first += block) {
    let sum = 0;
    for (let i = first; i < Math.min(first + block, count); i++) sum = f(sum + term(i));
    total = first === 0 ? sum : f(total + sum);
  }
  return total;
}

/**
 * The sum of a column from `start` on: 64 rows make a sum, 64 sums make one that is added.
 * assembly/dense/column-sums.ts has why.
 */
export function sumColumn(count: number, start: number, term: (row: number) => number): number {
  let total = start;
  for (let first = 0; first < count; first += SUM_BLOCK * SUM_BLOCK) {
    const rows = Math.min(SUM_BLOCK * SUM_BLOCK, count - first);
    total = f(total + sumInBlocks(rows, SUM_BLOCK, (row) => term(first + row)));
  }
  return total;
}

/** Length of the blocks of a product over `k`: all of it, or equal parts of at most SUM_K of more than CHAIN_K. */
export function blockK(k: number): number {
  return k <= CHAIN_K ? Math.max(1, k) : Math.ceil(k / Math.ceil(k / SUM_K));
}
