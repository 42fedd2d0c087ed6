/**
 * @file Splits rows, or the values of ragged rows, by an index per row. Mirrors distribution_ops split_by_indices and
 * ragged_split_by_indices.
 */
import { MonolithError } from '../../base/errors.js';
import { RaggedTensor } from '../ragged-tensor.js';
import { allocateData, type DType, sizeOfShape, Tensor } from '../tensor.js';
import { check, checkCount, refuse } from './check.js';

const OP = 'splitByIndices';

/**
 * `numSplits` tensors: the rows of `input` whose index is 0, 1, ..., each in input order.
 *
 * ```ts
 * const index = Tensor.of('int64', [0, 1, 0]);
 * splitByIndices(index, Tensor.of('float32', [5, 6, 7]), 2).map((part) => part.toArray()); // [[5, 7], [6]]
 * ```
 */
export function splitByIndices<D extends DType>(
  indices: Tensor<'int64'>,
  input: Tensor<D>,
  numSplits: number,
): Tensor<D>[] {
  const { counts, width } = survey(indices, input, numSplits);
  const parts = counts.map((count) => {
    return new Tensor(input.dtype, [count, ...input.shape.slice(1)], allocateData(input.dtype, count * width));
  });
  const cursors = counts.map(() => 0);
  indices.data.forEach((index, row) => {
    const k = Number(index);
    copyRow(input, row, parts[k]!, cursors[k]!++, width);
  });
  return parts;
}

/** Gradient of splitByIndices: each row of `input` gets the gradient of where it went. */
export function splitByIndicesGradient<D extends DType>(
  indices: Tensor<'int64'>,
  input: Tensor<D>,
  grads: readonly Tensor<D>[],
): Tensor<D> {
  const { counts, width } = survey(indices, input, grads.length);
  counts.forEach((count, k) => {
    const size = grads[k]!.size;
    check(size === count * width, OP, `gradient ${k} has ${size} values, not ${count * width}`);
  });
  const out = new Tensor(input.dtype, input.shape, allocateData(input.dtype, input.size));
  const cursors = counts.map(() => 0);
  indices.data.forEach((index, row) => {
    const k = Number(index);
    copyRow(grads[k]!, cursors[k]!++, out, row, width);
  });
  return out;
}

export interface RaggedSplits {
  readonly splits: RaggedTensor[];
  /** Where each value stood in the flat values of the input. */
  readonly positions: RaggedTensor[];
}

/** Splits the values of a ragged tensor of int64 by an index per value; every part has all the rows. */
export function raggedSplitByIndices(indices: Tensor<'int64'>, input: RaggedTensor, numSplits: number): RaggedSplits {
  const values = input.values;
  if (!(values instanceof Tensor) || values.dtype !== 'int64' || values.rank !== 1) {
    throw new MonolithError('ML_RAGGED_INVALID');
  }
  if (values.size !== indices.size) {
    throw new MonolithError('ML_RAGGED_VALUES', { values: values.size, indices: indices.size });
  }
  if (input.splitAt(0) !== 0 || input.splitAt(input.rowCount) !== values.size) {
    throw new MonolithError('ML_RAGGED_INVALID');
  }
  const { counts } = survey(indices, values, numSplits);
  const parts = counts.map((count) => ({
    values: new BigInt64Array(count),
    positions: new BigInt64Array(count),
    splits: new BigInt64Array(input.rowCount + 1),
    filled: 0,
  }));
  const data = values.data as BigInt64Array;
  for (let r = 0; r < input.rowCount; r++) {
    for (let at = input.splitAt(r); at < input.splitAt(r + 1); at++) {
      const part = parts[Number(indices.data[at])]!;
      part.values[part.filled] = data[at]!;
      part.positions[part.filled++] = BigInt(at);
    }
    for (const part of parts) part.splits[r + 1] = BigInt(part.filled);
  }
  const ragged = (list: BigInt64Array, splits: BigInt64Array) =>
    RaggedTensor.fromRowSplits(Tensor.vector('int64', list), Tensor.vector('int64', splits), { validate: false });
  return {
    splits: parts.map((part) => ragged(part.values, part.splits)),
    positions: parts.map((part) => ragged(part.positions, part.splits)),
  };
}

/** Rows per split and values per row; every index must name a split. */
function survey(indices: Tensor<'int64'>, input: Tensor, numSplits: number): { counts: number[]; width: number } {
  checkCount(OP, 'the number of splits', numSplits, 1);
  const rows = input.shape[0];
  check(rows === indices.size, OP, `there are ${indices.size} indices for ${rows ?? 'no'} rows`);
  const counts = Array.from({ length: numSplits }, () => 0);
  for (const index of indices.data) {
    if (index < 0n || index >= numSplits) refuse(OP, `index ${index} is not among ${numSplits} splits`);
    counts[Number(index)]!++;
  }
  return { counts, width: sizeOfShape(input.shape.slice(1)) };
}

function copyRow<D extends DType>(from: Tensor<D>, row: number, to: Tensor<D>, at: number, width: number): void {
  const part = from.data.subarray(row * width, (row + 1) * width);
  (to.data as Float32Array).set(part as Float32Array, at * width);
}
