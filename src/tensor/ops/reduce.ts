/** @file Reductions of rows by row id. Mirrors native_training's ragged reduce ops (sum, mean, square norm). */
import { Tensor } from '../tensor.js';
import { check, checkCount, matrixShape, refuse } from './check.js';

type Floats = Tensor<'float32'>;
/** A row id per value row, [n] or [n, 1]. */
export type RowIds = Tensor<'int64'> | Tensor<'int32'>;

const { fround } = Math;

/** Sum of the rows of each row id, added in their order; rows nobody names are zero. */
export function reduceSum(rows: RowIds, values: Floats, batch: number): Floats {
  const { ids, dim } = survey('reduceSum', rows, values, batch);
  return new Tensor('float32', [batch, dim], sumByRow(ids, values.data, batch, dim));
}

/** Gradient of reduceSum: a copy of the gradient of its row. */
export function reduceSumGradient(rows: RowIds, grad: Floats): Floats {
  return gatherRows('reduceSumGradient', rows, grad, (g) => g);
}

/** sum * (1 / count); zeros for a row without values (the reference gives NaN there). */
export function reduceMean(rows: RowIds, values: Floats, batch: number): Floats {
  const { ids, dim } = survey('reduceMean', rows, values, batch);
  const out = sumByRow(ids, values.data, batch, dim);
  const counts = countsOf(ids, batch);
  for (let r = 0; r < batch; r++) {
    if (counts[r] === 0) continue;
    const factor = fround(1 / counts[r]!);
    for (let c = 0; c < dim; c++) out[r * dim + c] = out[r * dim + c]! * factor;
  }
  return new Tensor('float32', [batch, dim], out);
}

/** Gradient of `reduceMean` by its values. */
export function reduceMeanGradient(rows: RowIds, grad: Floats): Floats {
  const counts = countsOf(idsOf('reduceMeanGradient', rows, grad.shape[0] ?? 0), grad.shape[0] ?? 0);
  return gatherRows('reduceMeanGradient', rows, grad, (g, row) => g / counts[row]!);
}

/** Square root of the sum of squares, per component. */
export function reduceSqrtn(rows: RowIds, values: Floats, batch: number): Floats {
  const { ids, dim } = survey('reduceSqrtn', rows, values, batch);
  const out = sumByRow(
    ids,
    values.data.map((x) => x * x),
    batch,
    dim,
  );
  return new Tensor(
    'float32',
    [batch, dim],
    out.map((x) => Math.sqrt(x)),
  );
}

/** Gradient of reduceSqrtn: g * x / out, and 0 where out is 0. */
export function reduceSqrtnGradient(rows: RowIds, values: Floats, grad: Floats): Floats {
  const op = 'reduceSqrtnGradient';
  const batch = matrixShape(op, 'the gradient', grad)[0];
  const out = reduceSqrtn(rows, values, batch);
  check(grad.shape[1] === out.shape[1], op, 'values and gradient differ in width');
  const dim = out.shape[1]!;
  return gatherRows(op, rows, grad, (g, row, i, c) => {
    const norm = out.data[row * dim + c]!;
    return norm === 0 ? 0 : fround(g * values.data[i * dim + c]!) / norm;
  });
}

/** reduceSum, cut into column blocks of `splitDims`. */
export function fusedReduceSumAndSplit(
  rows: RowIds,
  values: Floats,
  batch: number,
  splitDims: readonly number[],
): Floats[] {
  const op = 'fusedReduceSumAndSplit';
  const { ids, dim } = survey(op, rows, values, batch);
  const total = splitDims.reduce((sum, width) => sum + width, 0);
  check(total === dim && splitDims.every((width) => width > 0), op, `blocks [${splitDims}] do not make ${dim} columns`);
  const sums = sumByRow(ids, values.data, batch, dim);
  let from = 0;
  return splitDims.map((width) => {
    const out = new Float32Array(batch * width);
    for (let r = 0; r < batch; r++) out.set(sums.subarray(r * dim + from, r * dim + from + width), r * width);
    from += width;
    return new Tensor('float32', [batch, width], out);
  });
}

/** Gradient of fusedReduceSumAndSplit: the block gradients side by side, copied to each value row. */
export function fusedReduceSumAndSplitGradient(rows: RowIds, grads: readonly Floats[]): Floats {
  return reduceSumGradient(rows, concatColumns('fusedReduceSumAndSplitGradient', grads));
}

/** Blocks of one row count side by side. */
export function concatColumns(op: string, blocks: readonly Floats[]): Floats {
  check(blocks.length > 0, op, 'there is no block');
  const batch = matrixShape(op, 'a block', blocks[0]!)[0];
  const dim = blocks.reduce((sum, block) => sum + matrixShape(op, 'a block', block)[1], 0);
  const out = new Float32Array(batch * dim);
  let from = 0;
  for (const block of blocks) {
    const [rows, width] = matrixShape(op, 'a block', block);
    check(rows === batch, op, `blocks have ${batch} and ${rows} rows`);
    for (let r = 0; r < batch; r++) out.set(block.data.subarray(r * width, (r + 1) * width), r * dim + from);
    from += width;
  }
  return new Tensor('float32', [batch, dim], out);
}

/** Row ids as numbers, each checked to be below `batch`. */
function idsOf(op: string, rows: RowIds, batch: number): Int32Array {
  checkCount(op, 'the batch size', batch);
  check(rows.rank === 1 || (rows.rank === 2 && rows.shape[1] === 1), op, `row ids have shape [${rows.shape}]`);
  const ids = Int32Array.from(rows.data as ArrayLike<number | bigint> as ArrayLike<number>, Number);
  ids.forEach((id, i) => {
    if (id < 0 || id >= batch) refuse(op, `row id ${rows.data[i]} is not below ${batch}`);
  });
  return ids;
}

function survey(op: string, rows: RowIds, values: Floats, batch: number): { ids: Int32Array; dim: number } {
  const [count, dim] = matrixShape(op, 'values', values);
  check(rows.size === count, op, `there are ${rows.size} row ids for ${count} rows`);
  return { ids: idsOf(op, rows, batch), dim };
}

function countsOf(ids: Int32Array, batch: number): Int32Array {
  const counts = new Int32Array(batch);
  for (const id of ids) counts[id] = counts[id]! + 1;
  return counts;
}

function sumByRow(ids: Int32Array, values: Float32Array, batch: number, dim: number): Float32Array {
  const out = new Float32Array(batch * dim);
  ids.forEach((row, i) => {
    for (let c = 0; c < dim; c++) out[row * dim + c] = out[row * dim + c]! + values[i * dim + c]!;
  });
  return out;
}

function gatherRows(
  op: string,
  rows: RowIds,
  grad: Floats,
  at: (g: number, row: number, i: number, c: number) => number,
): Floats {
  const [batch, dim] = matrixShape(op, 'the gradient', grad);
  const ids = idsOf(op, rows, batch);
  const out = new Float32Array(ids.length * dim);
  ids.forEach((row, i) => {
    for (let c = 0; c < dim; c++) out[i * dim + c] = at(grad.data[row * dim + c]!, row, i, c);
  });
  return new Tensor('float32', [ids.length, dim], out);
}
