/**
 * @file Sums, means and extremes over the batch, over columns or over everything.
 *
 * A sum over the batch is partial (see TensorSpec) until `batchSum` completes it; a largest value over the batch cannot
 * be put together from sums and is completed at once.
 */

import { checkOptions } from '../../base/check-options.js';
import { type Dim, elementCount, misfit, type OpDef, type Tensor, type TensorSpec } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { sumTo } from './broadcast.js';
import { oneFloat, rowsOfFloats } from './checks.js';
import { binary, mul, scale } from './elementwise.js';
import { nameOf, type OpOptions } from './options.js';
import { scaleRows } from './rows.js';
import { constant } from './state.js';

/** Over the examples of the batch, over the columns of each row, or over everything. */
export type Axis = 'batch' | 'columns' | 'all';

export interface ReduceOptions extends OpOptions {
  /** Default: everything. */
  readonly axis?: Axis;
}

function reducedShape(type: string, x: Tensor, axis: Axis): readonly Dim[] {
  if (axis === 'all') return [];
  rowsOfFloats(type, x);
  return axis === 'batch' ? x.spec.shape.slice(1) : ['batch'];
}

/** Sum over the batch (a sum to be completed), over columns, or over everything. */
export function reduceSum(x: Tensor, options: ReduceOptions = {}): Tensor {
  const { axis = 'all', name = 'Sum' } = checkOptions('reduceSum', options, ['axis', 'name']);
  return sumTo(x, reducedShape('Sum', x, axis), { name });
}

export const ReduceMean: OpDef<null> = {
  type: 'Mean',
  infer: ([x]) => {
    rowsOfFloats('Mean', x!);
    return [{ dtype: 'float32', shape: [], partial: true }];
  },
  gradient: (op, [grad]) => [grad && broadcastMean(grad, op.inputs[0]!)],
};

/** Mean over all elements of the batch, or over the axis that the options name. */
export function reduceMean(x: Tensor, options: ReduceOptions = {}): Tensor {
  const { axis = 'all', name = 'Mean' } = checkOptions('reduceMean', options, ['axis', 'name']);
  if (axis !== 'all' || !x.perExample) return meanOver(x, axis, name);
  return x.graph.add(ReduceMean, [x], null, name).output;
}

/** Mean over the batch (a sum to be completed), over columns, or over everything. */
function meanOver(x: Tensor, axis: Axis, name: string): Tensor {
  const sum = sumTo(x, reducedShape('Mean', x, axis), { perBatch: x.perExample && axis !== 'columns', name });
  return axis === 'batch' || x.columns === 1 ? sum : scale(sum, 1 / x.columns);
}

export const BroadcastMean: OpDef<{ readonly spec: TensorSpec }> = {
  type: 'MeanGrad',
  infer: ([grad], { spec }) => {
    if (grad!.spec.partial)
      throw misfit('MeanGrad', `${grad!.name} is a sum over the batch, known only after the step`);
    return [spec];
  },
};

function broadcastMean(grad: Tensor, like: Tensor): Tensor {
  return like.graph.add(BroadcastMean, [grad], { spec: like.spec }).output;
}

/** Inputs: x and a number of the whole batch. The number gets no gradient. */
export const DivideByScalar: OpDef<null> = {
  type: 'DivideByScalar',
  infer: ([x]) => [rowsOfFloats('DivideByScalar', x!).spec],
};

/**
 * Sum of weight times value over the sum of the weights, of the whole batch: with weights of 0 and 1 the mean of some
 * examples. 0 when all weights are. Weights get no gradient. Costs a barrier per step, because the sum of the weights
 * must be known before gradients are; `reduceMean` of weighted losses divides by the number of examples and costs none.
 */
export function weightedMean(x: Tensor, weights: Tensor, options: OpOptions = {}): Tensor {
  rowsOfFloats('weightedMean', x);
  oneFloat('weightedMean', weights, 'weight');
  const mean = batchSum(reduceMean(weights));
  const shares = x.graph.add(DivideByScalar, [weights, mean], null, 'weight_shares').output;
  const fits = shares.spec.shape.length === x.spec.shape.length && x.columns === 1;
  return reduceMean(fits ? mul(x, shares) : scaleRows(shares, x), { name: nameOf('weightedMean', options) });
}

export const MaxColumns: OpDef<null> = {
  type: 'Max',
  infer: ([x]) => [{ ...rowsOfFloats('Max', x!).spec, shape: ['batch'] }],
  gradient: (op, [grad]) => [grad && shareOfLargest(op.inputs[0]!, op.output, grad, 'columns')],
};

/** Largest value of each column in a slice: the slices' parts of BatchMax, and no value of its own. */
export const SliceMax: OpDef<null> = {
  type: 'SliceMax',
  infer: ([x]) => [{ dtype: 'float32', shape: rowsOfFloats('Max', x!).spec.shape.slice(1), partial: true }],
};

/** Inputs: SliceMax of x, x. */
export const BatchMax: OpDef<null> = {
  type: 'BatchMax',
  infer: ([parts]) => [{ dtype: 'float32', shape: parts!.spec.shape }],
  gradient: (op, [grad]) => [undefined, grad && shareOfLargest(op.inputs[1]!, op.output, grad, 'batch')],
};

/** The gradient of a largest value goes to the elements that have it, in equal shares. */
function shareOfLargest(x: Tensor, largest: Tensor, grad: Tensor, axis: Axis): Tensor {
  const isLargest = binary('equal', x, largest);
  return binary('mul', isLargest, binary('div', grad, reduceSum(isLargest, { axis })));
}

/** Largest value over the batch, over columns, or over everything; completed within the step. */
export function reduceMax(x: Tensor, options: ReduceOptions = {}): Tensor {
  const { axis = 'all', name = 'Max' } = checkOptions('reduceMax', options, ['axis', 'name']);
  if (axis === 'columns') return x.graph.add(MaxColumns, [x], null, name).output;
  const rows = axis === 'all' && rowsOfFloats('Max', x).columns > 1 ? reduceMax(x, { axis: 'columns' }) : x;
  const parts = x.graph.add(SliceMax, [rows], null, `${name}/slices`).output;
  return x.graph.add(BatchMax, [parts, rows], null, name).output;
}

/** Ones in the shape of a scalar or of a fixed-size tensor: the seed of a gradient. */
export function onesLike(tensor: Tensor): Tensor {
  if (tensor.perExample) throw misfit(tensor.name, 'a seed gradient is needed: only scalars get ones by themselves');
  const shape = tensor.spec.shape as readonly number[];
  return constant(tensor.graph, new Float32Array(elementCount(shape)).fill(1), { shape, name: 'grad_ys' });
}
