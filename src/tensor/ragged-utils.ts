/** @file Helpers over row splits. Mirrors native_training/ragged_utils and normalize_merged_split_op. */
import { MonolithError } from '../base/errors.js';
import { RaggedTensor } from './ragged-tensor.js';
import type { Tensor } from './tensor.js';

/** int64 row id of each value of `rt`; cached on it. */
export function fusedValueRowids(rt: unknown): Tensor<'int64'> {
  if (!(rt instanceof RaggedTensor)) throw new MonolithError('ML_RAGGED_TYPE');
  return rt.valueRowIds();
}

/**
 * Concatenated row splits of several batches as the splits of one: the first part as it is, of each later part all but
 * its leading entry, moved up by what came before. `sizes` are the numbers of entries of the parts.
 *
 * ```ts
 * normalizeMergedSplit(BigInt64Array.of(0n, 2n, 0n, 3n), [2, 2]); // 0n, 2n, 5n
 * ```
 */
export function normalizeMergedSplit(rowSplit: BigInt64Array, sizes: readonly number[]): BigInt64Array {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (sizes.length === 0 || !sizes.every((size) => Number.isInteger(size) && size > 0) || total !== rowSplit.length) {
    throw new MonolithError('ML_RAGGED_SPLITS', {
      reason: `${rowSplit.length} merged entries cannot be parts of sizes ${sizes.join(', ') || '(none)'}`,
    });
  }
  const normed = new BigInt64Array(rowSplit.length + 1 - sizes.length);
  normed[0] = rowSplit[0]!;
  let from = 0;
  let to = 1;
  let base = 0n;
  for (const size of sizes) {
    for (let i = 1; i < size; i++) normed[to++] = rowSplit[from + i]! + base;
    base = normed[to - 1]!;
    from += size;
  }
  return normed;
}
