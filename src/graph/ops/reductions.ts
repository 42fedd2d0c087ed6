/**
 * @file Sums, means and extremes over the batch or over columns, and their reverse: values repeated over rows or columns.
 *
 * A sum over the batch is partial (see TensorSpec) until `batchSum` completes it; a largest value over the batch cannot be
 * put together from sums and is completed at once.
 */
import { type Dim, elementCount, misfit, type OpDef, sameShape, shapeText, type Tensor } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { floats, rowsOfFloats } from './checks.js';
import { binary } from './elementwise.js';
import { scale } from './math.js';

/** Over the examples of the batch, over the columns of each row, or over everything. */
export type Axis = 'batch' | 'columns' | 'all';

export interface ReduceOptions {
  /** Default: everything. */
  readonly axis?: Axis;
  readonly name?: string;
}

export interface ResizeAttrs {
  readonly shape: readonly Dim[];
  /** Divide by the number of examples of the batch. */
  readonly perBatch: boolean;
}

/** What is summed, or repeated, between two shapes. Shared matrices have rows too: all but their last dimension. */
export type Spread = 'none' | 'rows' | 'columns' | 'all';

export function spreadOf(wide: readonly Dim[], narrow: readonly Dim[]): Spread | undefined {
  const size = (shape: readonly Dim[]) => elementCount(shape[0] === 'batch' ? shape.slice(1) : shape);
  const [wideCount, narrowCount] = [size(wide), size(narrow)];
  if (wide[0] === 'batch') {
    if (narrow[0] === 'batch') return narrowCount === wideCount ? 'none' : narrowCount === 1 ? 'columns' : undefined;
    if (narrowCount === 1) return 'all';
    return narrowCount === wideCount ? 'rows' : undefined;
  }
  if (narrow[0] === 'batch') return undefined;
  if (narrowCount === 1) return wideCount === 1 ? 'none' : 'all';
  if (narrowCount === wideCount) return 'none';
  const last = wide.at(-1) as number;
  if (narrow.at(-1) === last && narrowCount === last) return 'rows';
  return narrow.at(-1) === 1 && narrowCount * last === wideCount ? 'columns' : undefined;
}

export const SumTo: OpDef<ResizeAttrs> = {
  type: 'Sum',
  infer: ([x], { shape }) => {
    const { spec, perExample } = floats('Sum', x!);
    if (spreadOf(spec.shape, shape) === undefined) {
      throw misfit('Sum', `${shapeText(spec.shape)} cannot be summed to ${shapeText(shape)}`);
    }
    const isSum = spec.partial || (perExample && shape[0] !== 'batch');
    return [{ dtype: 'float32', shape, ...(isSum && { partial: true }) }];
  },
  gradient: (op, [grad]) => [grad && broadcastTo(grad, op.inputs[0]!.spec.shape, op.attrs.perBatch)],
};

/** Sum over whatever `shape` lacks. */
export function sumTo(x: Tensor, shape: readonly Dim[], perBatch = false, name?: string): Tensor {
  if (sameShape(x.spec.shape, shape) && !perBatch) return x;
  return x.graph.add(SumTo, [x], { shape, perBatch }, name).output;
}

export const BroadcastTo: OpDef<ResizeAttrs> = {
  type: 'BroadcastTo',
  infer: ([x], { shape }) => {
    const { spec } = floats('BroadcastTo', x!);
    if (spreadOf(shape, spec.shape) === undefined) {
      throw misfit('BroadcastTo', `${shapeText(spec.shape)} cannot be repeated to ${shapeText(shape)}`);
    }
    if (spec.partial && shape[0] === 'batch') throw misfit('BroadcastTo', `${x!.name} must be completed with batchSum`);
    return [{ ...spec, shape }];
  },
  gradient: (op, [grad]) => [grad && sumTo(grad, op.inputs[0]!.spec.shape, op.attrs.perBatch)],
};

/** The values of `x` repeated over rows, columns or both. */
export function broadcastTo(x: Tensor, shape: readonly Dim[], perBatch = false, name?: string): Tensor {
  if (sameShape(x.spec.shape, shape) && !perBatch) return x;
  const whole = shape[0] === 'batch' ? batchSum(x) : x;
  return x.graph.add(BroadcastTo, [whole], { shape, perBatch }, name).output;
}

function reducedShape(type: string, x: Tensor, axis: Axis): readonly Dim[] {
  if (axis === 'all') return [];
  rowsOfFloats(type, x);
  return axis === 'batch' ? x.spec.shape.slice(1) : ['batch'];
}

/** Sum over the batch (a sum to be completed), over columns, or over everything. */
export function reduceSum(x: Tensor, { axis = 'all', name = 'Sum' }: ReduceOptions = {}): Tensor {
  return sumTo(x, reducedShape('Sum', x, axis), false, name);
}

/** Mean over the batch (a sum to be completed), over columns, or over everything. */
export function reduceMeanOver(x: Tensor, axis: Axis, name = 'Mean'): Tensor {
  const sum = sumTo(x, reducedShape('Mean', x, axis), x.perExample && axis !== 'columns', name);
  return axis === 'batch' || x.columns === 1 ? sum : scale(sum, 1 / x.columns);
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
export function reduceMax(x: Tensor, { axis = 'all', name = 'Max' }: ReduceOptions = {}): Tensor {
  if (axis === 'columns') return x.graph.add(MaxColumns, [x], null, name).output;
  const rows = axis === 'all' && rowsOfFloats('Max', x).columns > 1 ? reduceMax(x, { axis: 'columns' }) : x;
  const parts = x.graph.add(SliceMax, [rows], null, `${name}/slices`).output;
  return x.graph.add(BatchMax, [parts, rows], null, name).output;
}
