/**
 * @file Reductions of several inputs at once: row sums cut into slices, and sums over sorted segments.
 *
 * Mirrors fused_reduce_and_split and fused_sorted_segment_sum, which the reference has on GPUs only.
 */
import { MonolithError } from '../../base/errors.js';
import { type Shape, sizeOfShape, Tensor } from '../tensor.js';
import { check, matrixShape, refuse, sum } from './check.js';
import { concatColumns, fusedReduceSumAndSplit, fusedReduceSumAndSplitGradient, type RowIds } from './reduce.js';

type Floats = Tensor<'float32'>;
export type Splits = Tensor<'int64'> | Tensor<'int32'>;

/** Row id per value of row splits that start at 0. */
function rowIdsOf(splits: Splits): Tensor<'int32'> {
  const ends = Array.from(splits.data, Number);
  const ids = new Int32Array(ends.at(-1) ?? 0);
  for (let r = 0; r + 1 < ends.length; r++) ids.fill(r, ends[r], ends[r + 1]);
  return Tensor.vector('int32', ids);
}

export function checkReduceAndSplit(
  values: readonly Floats[],
  splits: readonly Splits[],
  dims: readonly Shape[],
): void {
  const op = 'fusedReduceAndSplit';
  check(
    values.length === splits.length && dims.length === values.length,
    op,
    'inputs, splits and slices differ in count',
  );
  values.forEach((value, n) => {
    const [rows, width] = matrixShape(op, `input ${n}`, value);
    checkRowSplits(op, splits[n]!, rows);
    const slices = dims[n]!;
    check(slices.every((d) => d > 0) && sum([...slices]) === width, op, `slices [${slices}] are not ${width} wide`);
  });
}

/** Splits must start at 0, never fall, and end at `rows`. */
export function checkRowSplits(op: string, splits: Splits, rows: number): void {
  const ends = Array.from(splits.data, Number);
  const sorted = ends.every((end, r) => r === 0 || end >= ends[r - 1]!);
  if (ends[0] !== 0 || !sorted || ends.at(-1) !== rows) refuse(op, `splits [${ends}] do not cut ${rows} rows`);
}

/** For every input the sums of its rows, cut into slices: slices of input 0, then of input 1, ... */
export function fusedReduceAndSplit(
  values: readonly Floats[],
  splits: readonly Splits[],
  sliceDims: readonly Shape[],
): Floats[] {
  checkReduceAndSplit(values, splits, sliceDims);
  return values.flatMap((value, n) => {
    return fusedReduceSumAndSplit(rowIdsOf(splits[n]!), value, splits[n]!.size - 1, [...sliceDims[n]!]);
  });
}

export function checkReduceAndSplitGradient(
  splits: readonly Splits[],
  grads: readonly Floats[],
  sliceDims: readonly Shape[],
): void {
  const op = 'fusedReduceAndSplitGradient';
  check(splits.length === sliceDims.length, op, `there are ${splits.length} splits for ${sliceDims.length} inputs`);
  check(grads.length === sum(sliceDims.map((dims) => dims.length)), op, `there are ${grads.length} gradients`);
  let next = 0;
  splits.forEach((split, n) => {
    checkRowSplits(op, split, Number(split.data.at(-1)));
    for (const dim of sliceDims[n]!) {
      const size = grads[next]!.size;
      check(size === (split.size - 1) * dim, op, `gradient ${next} has ${size} values`);
      next++;
    }
  });
}

/** Gradients of fusedReduceAndSplit with respect to the inputs. */
export function fusedReduceAndSplitGradient(
  splits: readonly Splits[],
  grads: readonly Floats[],
  sliceDims: readonly Shape[],
): Floats[] {
  const op = 'fusedReduceAndSplitGradient';
  checkReduceAndSplitGradient(splits, grads, sliceDims);
  let from = 0;
  return splits.map((split, n) => {
    const count = sliceDims[n]!.length;
    const blocks = grads.slice(from, from + count);
    from += count;
    return fusedReduceSumAndSplitGradient(rowIdsOf(split), blocks.length > 1 ? [concatColumns(op, blocks)] : blocks);
  });
}

/** Per input zeros of its shape plus the updates at their indices along the first dimension. Indices are sorted. */
export function fusedSortedSegmentSum(
  indices: readonly RowIds[],
  updates: readonly Floats[],
  shapes: readonly Shape[],
): Floats[] {
  const op = 'fusedSortedSegmentSum';
  check(indices.length === updates.length && shapes.length === updates.length, op, 'lists differ in length');
  return shapes.map((shape, n) => {
    const ids = Array.from(indices[n]!.data, Number);
    const update = updates[n]!;
    const out = new Float32Array(sizeOfShape(shape));
    if (out.length === 0 && (ids.length > 0 || update.size > 0)) throw new MonolithError('ML_SEGMENT_EMPTY');
    const width = sizeOfShape(shape.slice(1));
    check(update.size === ids.length * width, op, `updates ${n} have ${update.size} values for ${ids.length} indices`);
    ids.forEach((id, i) => {
      if (id < 0 || id >= shape[0]!) refuse(op, `index ${id} of input ${n} is not below ${shape[0]}`);
      if (i > 0 && id < ids[i - 1]!) refuse(op, `indices ${n} are not sorted`);
      for (let c = 0; c < width; c++) out[id * width + c] = out[id * width + c]! + update.data[i * width + c]!;
    });
    return new Tensor('float32', shape, out);
  });
}

/** Gradient of fusedSortedSegmentSum: the rows of the gradients at the indices. */
export function fusedSortedSegmentSumGradient(indices: readonly RowIds[], grads: readonly Floats[]): Floats[] {
  return indices.map((ids, n) => {
    const grad = grads[n]!;
    const width = sizeOfShape(grad.shape.slice(1));
    const out = new Float32Array(ids.size * width);
    ids.data.forEach((id: number | bigint, i: number) => {
      const at = Number(id) * width;
      out.set(grad.data.subarray(at, at + width), i * width);
    });
    return new Tensor('float32', [ids.size, ...grad.shape.slice(1)], out);
  });
}
