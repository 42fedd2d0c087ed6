/** @file Masks of ragged sequences. Mirrors gen_seq_mask. */
import { allocateData, Tensor } from '../tensor.js';
import { check, checkCount, refuse } from './check.js';

/**
 * [rows, maxSeqLength] of the dtype of `splits`: 1 for the first min(row length, maxSeqLength) positions.
 *
 * ```ts
 * genSeqMask(Tensor.of('int32', [0, 1, 4]), 2).toArray(); // [[1, 0], [1, 1]]
 * ```
 */
export function genSeqMask<D extends 'int32' | 'int64'>(splits: Tensor<D>, maxSeqLength: number): Tensor<D> {
  const op = 'genSeqMask';
  checkCount(op, 'the sequence length', maxSeqLength, 1);
  check(splits.rank === 1 && splits.size > 0, op, 'splits must be a list of at least one number');
  const rows = splits.size - 1;
  const mask = allocateData(splits.dtype, rows * maxSeqLength);
  const ends = Array.from(splits.data as ArrayLike<number | bigint>, Number);
  for (let r = 0; r < rows; r++) {
    const length = ends[r + 1]! - ends[r]!;
    if (length < 0) refuse(op, `row ${r} has ${length} values`);
    const [from, to] = [r * maxSeqLength, r * maxSeqLength + Math.min(length, maxSeqLength)];
    if (mask instanceof BigInt64Array) mask.fill(1n, from, to);
    else (mask as Int32Array).fill(1, from, to);
  }
  return new Tensor(splits.dtype, [rows, maxSeqLength], mask);
}
