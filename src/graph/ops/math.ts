/**
 * @file Elementwise ops, reductions and matrix products, with their gradients.
 *
 * Shapes are at most rank 2. A tensor per example is `[batch]` or `[batch, n]`; what is reduced over the batch is partial
 * (see TensorSpec). Ops that mix per-example and other operands say so.
 */
import {
  type Dim,
  elementCount,
  misfit,
  type OpDef,
  sameShape,
  shapeText,
  type Tensor,
  type TensorSpec,
} from '../graph.js';
import { alike, binary, type Operand, operandsOf } from './elementwise.js';
import { type ReduceOptions, reduceMeanOver } from './reductions.js';
import { constant } from './state.js';

function same(type: string, a: Tensor, b: Tensor): TensorSpec {
  floats(type, a);
  floats(type, b);
  if (!sameShape(a.spec.shape, b.spec.shape)) {
    throw misfit(type, `shapes ${shapeText(a.spec.shape)} and ${shapeText(b.spec.shape)} differ`);
  }
  if ((a.spec.partial ?? false) !== (b.spec.partial ?? false)) {
    throw misfit(type, `of ${a.name} and ${b.name} one is a sum over the batch and the other is not`);
  }
  return a.spec;
}

function floats(type: string, tensor: Tensor): Tensor {
  if (tensor.spec.dtype !== 'float32') throw misfit(type, `${tensor.name} holds ${tensor.spec.dtype}, not floats`);
  return tensor;
}

function perExample(type: string, tensor: Tensor): Tensor {
  floats(type, tensor);
  if (!tensor.perExample) throw misfit(type, `${tensor.name} must have a row per example`);
  return tensor;
}

const batchOf = (columns: number): readonly Dim[] => (columns === 1 ? ['batch'] : ['batch', columns]);

// --- sums of tensors -------------------------------------------------------------------------------------------------

export const AddN: OpDef<null> = {
  type: 'AddN',
  infer: (inputs) => {
    if (inputs.length === 0) throw misfit('AddN', 'there is nothing to add');
    for (const input of inputs) same('AddN', inputs[0]!, input);
    return [inputs[0]!.spec];
  },
  gradient: (op, [grad]) => op.inputs.map(() => grad),
};

/** Sum of tensors of one shape. */
export function addN(inputs: readonly Tensor[], name?: string): Tensor {
  if (inputs.length === 1) return inputs[0]!;
  const first = inputs[0];
  if (first === undefined) throw misfit('AddN', 'there is nothing to add');
  return first.graph.add(AddN, inputs, null, name).output;
}

export const Sub: OpDef<null> = {
  type: 'Sub',
  infer: ([a, b]) => [same('Sub', a!, b!)],
  gradient: (_, [grad]) => [grad, grad && scale(grad, -1)],
};

/** Difference, with broadcasting. */
export function sub(a: Operand, b: Operand, name = 'Sub'): Tensor {
  const [x, y] = operandsOf(a, b);
  return alike(x, y) ? x.graph.add(Sub, [x, y], null, name).output : binary('sub', x, y, name);
}

export const Mul: OpDef<null> = {
  type: 'Mul',
  infer: ([a, b]) => [same('Mul', perExample('Mul', a!), b!)],
  gradient: (op, [grad]) => [grad && mul(grad, op.inputs[1]!), grad && mul(grad, op.inputs[0]!)],
};

/** Elementwise product, with broadcasting. */
export function mul(a: Operand, b: Operand, name = 'Mul'): Tensor {
  const [x, y] = operandsOf(a, b);
  return x.perExample && alike(x, y) ? x.graph.add(Mul, [x, y], null, name).output : binary('mul', x, y, name);
}

export const Scale: OpDef<{ readonly factor: number }> = {
  type: 'Scale',
  infer: ([x]) => [floats('Scale', x!).spec],
  gradient: (op, [grad]) => [grad && scale(grad, op.attrs.factor)],
};

export function scale(x: Tensor, factor: number, name?: string): Tensor {
  return x.graph.add(Scale, [x], { factor }, name).output;
}

// --- rows --------------------------------------------------------------------------------------------------------------

export const RowDot: OpDef<null> = {
  type: 'RowDot',
  infer: ([a, b]) => {
    same('RowDot', perExample('RowDot', a!), b!);
    return [{ dtype: 'float32', shape: ['batch'] }];
  },
  gradient: (op, [grad]) => [grad && scaleRows(grad, op.inputs[1]!), grad && scaleRows(grad, op.inputs[0]!)],
};

/** Dot product of the two rows of each example: `[batch, n] x [batch, n] → [batch]`. */
export function rowDot(a: Tensor, b: Tensor, name?: string): Tensor {
  return a.graph.add(RowDot, [a, b], null, name).output;
}

export const ScaleRows: OpDef<null> = {
  type: 'ScaleRows',
  infer: ([factors, x]) => {
    if (perExample('ScaleRows', factors!).columns !== 1) throw misfit('ScaleRows', 'one factor per example is needed');
    return [perExample('ScaleRows', x!).spec];
  },
  gradient: (op, [grad]) => {
    const [factors, x] = op.inputs as [Tensor, Tensor];
    return [grad && shapedLike(factors, rowDot(grad, x)), grad && scaleRows(factors, grad)];
  },
};

/** Each row of `x` times the example's factor. */
export function scaleRows(factors: Tensor, x: Tensor, name?: string): Tensor {
  return x.graph.add(ScaleRows, [factors, x], null, name).output;
}

export interface ColumnsAttrs {
  readonly start: number;
  readonly end: number;
  /** `[batch]` or `[batch, 1]` when it is one column. */
  readonly shape: readonly Dim[];
}

export const Columns: OpDef<ColumnsAttrs> = {
  type: 'Columns',
  infer: ([x], { start, end, shape }) => {
    if (!x!.perExample || x!.spec.ragged) throw misfit('Columns', `${x!.name} must have a row per example`);
    const width = x!.columns;
    const isRange = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= width;
    if (!isRange) throw misfit('Columns', `[${start}, ${end}) of ${width} columns`);
    return [{ dtype: x!.spec.dtype, shape }];
  },
  gradient: (op, [grad]) => [
    grad && assembleColumns(op.inputs[0]!, [{ start: op.attrs.start, grad }], `${op.name}_grad`),
  ],
};

/** Columns `[start, end)` of each row, of floats or of ids: a view, nothing is copied. */
export function columns(x: Tensor, start: number, end: number, name?: string): Tensor {
  return x.graph.add(Columns, [x], { start, end, shape: batchOf(end - start) }, name).output;
}

export interface AssembleColumnsAttrs {
  readonly starts: readonly number[];
  readonly width: number;
  readonly shape: readonly Dim[];
}

export const AssembleColumns: OpDef<AssembleColumnsAttrs> = {
  type: 'AssembleColumns',
  infer: (inputs, { starts, width, shape }) => {
    inputs.forEach((input, index) => {
      const start = starts[index]!;
      const end = start + perExample('AssembleColumns', input).columns;
      if (!(start >= 0 && end <= width)) throw misfit('AssembleColumns', `[${start}, ${end}) of ${width} columns`);
    });
    return [{ dtype: 'float32', shape }];
  },
  gradient: (op, [grad]) =>
    op.inputs.map((input, index) => {
      const start = op.attrs.starts[index]!;
      const attrs = { start, end: start + input.columns, shape: input.spec.shape };
      return grad && op.graph.add(Columns, [grad], attrs).output;
    }),
};

/** `x`, which has one column, in the shape of `like`: `[batch]` or `[batch, 1]`. A view. */
function shapedLike(like: Tensor, x: Tensor): Tensor {
  if (sameShape(like.spec.shape, x.spec.shape)) return x;
  return x.graph.add(Columns, [x], { start: 0, end: 1, shape: like.spec.shape }).output;
}

/** A tensor like `like` whose columns are put together from parts; overlapping parts add up, the rest is zero. */
export function assembleColumns(
  like: Tensor,
  parts: readonly { readonly start: number; readonly grad: Tensor }[],
  name?: string,
): Tensor {
  const attrs = { starts: parts.map((part) => part.start), width: like.columns, shape: like.spec.shape };
  const inputs = parts.map((part) => part.grad);
  return like.graph.add(AssembleColumns, inputs, attrs, name).output;
}

/** Per-example tensors side by side. */
export function concatColumns(inputs: readonly Tensor[], name?: string): Tensor {
  const starts: number[] = [];
  let width = 0;
  for (const input of inputs) {
    starts.push(width);
    width += perExample('Concat', input).columns;
  }
  const first = inputs[0];
  if (first === undefined) throw misfit('Concat', 'there is nothing to join');
  return first.graph.add(AssembleColumns, inputs, { starts, width, shape: batchOf(width) }, name ?? 'concat').output;
}

// --- reductions over the batch ---------------------------------------------------------------------------------------

export const ReduceMean: OpDef<null> = {
  type: 'Mean',
  infer: ([x]) => {
    perExample('Mean', x!);
    return [{ dtype: 'float32', shape: [], partial: true }];
  },
  gradient: (op, [grad]) => [grad && broadcastMean(grad, op.inputs[0]!)],
};

/** Mean over all elements of the batch, or over the axis that the options name. */
export function reduceMean(x: Tensor, options: string | ReduceOptions = {}): Tensor {
  const { axis = 'all', name = 'Mean' } = typeof options === 'string' ? { name: options } : options;
  if (axis !== 'all' || !x.perExample) return reduceMeanOver(x, axis, name);
  return x.graph.add(ReduceMean, [x], null, name).output;
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

/** Ones in the shape of a scalar or of a fixed-size tensor: the seed of a gradient. */
export function onesLike(tensor: Tensor): Tensor {
  if (tensor.perExample) throw misfit(tensor.name, 'a seed gradient is needed: only scalars get ones by themselves');
  const shape = tensor.spec.shape as readonly number[];
  return constant(tensor.graph, new Float32Array(elementCount(shape)).fill(1), shape, 'grad_ys');
}
