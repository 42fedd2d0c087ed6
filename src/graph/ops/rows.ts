/** @file Rows of examples with a factor, another row, or a vector that all examples share. */

import { misfit, type OpDef, sameShape, shapeText, type Tensor } from '../graph.js';
import { floats, perColumn, rowsOfFloats, same } from './checks.js';
import { Columns } from './columns.js';
import { mul } from './elementwise.js';
import { nameOf, type OpOptions } from './options.js';

export const RowDot: OpDef<null> = {
  type: 'RowDot',
  infer: ([a, b]) => {
    same('RowDot', rowsOfFloats('RowDot', a!), b!);
    return [{ dtype: 'float32', shape: ['batch'] }];
  },
  gradient: (op, [grad]) => [grad && scaleRows(grad, op.inputs[1]!), grad && scaleRows(grad, op.inputs[0]!)],
};

/** Dot product of the two rows of each example: `[batch, n] x [batch, n] → [batch]`. */
export function rowDot(a: Tensor, b: Tensor, options: OpOptions = {}): Tensor {
  return a.graph.add(RowDot, [a, b], null, nameOf('rowDot', options)).output;
}

export const ScaleRows: OpDef<null> = {
  type: 'ScaleRows',
  infer: ([factors, x]) => {
    if (rowsOfFloats('ScaleRows', factors!).columns !== 1)
      throw misfit('ScaleRows', 'one factor per example is needed');
    return [rowsOfFloats('ScaleRows', x!).spec];
  },
  gradient: (op, [grad]) => {
    const [factors, x] = op.inputs as [Tensor, Tensor];
    return [grad && shapedLike(factors, rowDot(grad, x)), grad && scaleRows(factors, grad)];
  },
};

/** Each row of `x` times the example's factor. */
export function scaleRows(factors: Tensor, x: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(ScaleRows, [factors, x], null, nameOf('scaleRows', options)).output;
}

/** `x`, which has one column, in the shape of `like`: `[batch]` or `[batch, 1]`. A view. */
function shapedLike(like: Tensor, x: Tensor): Tensor {
  if (sameShape(like.spec.shape, x.spec.shape)) return x;
  return x.graph.add(Columns, [x], { start: 0, end: 1, shape: like.spec.shape }).output;
}

export const AddBias: OpDef<null> = {
  type: 'BiasAdd',
  infer: ([x, bias]) => {
    const fits = x!.perExample && bias!.spec.shape.length === 1 && !bias!.perExample && x!.columns === bias!.columns;
    if (!fits || floats('BiasAdd', bias!).spec.partial) {
      throw misfit('BiasAdd', `${shapeText(x!.spec.shape)} and ${shapeText(bias!.spec.shape)} do not fit together`);
    }
    return [x!.spec];
  },
  gradient: (_, [grad]) => [grad, grad && sumRows(grad)],
};

/** Adds a vector to every row. */
export function addBias(x: Tensor, bias: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(AddBias, [x, bias], null, nameOf('addBias', options)).output;
}

export const SumRows: OpDef<null> = {
  type: 'BiasAddGrad',
  infer: ([x]) => [{ dtype: 'float32', shape: [x!.columns], partial: true }],
};

/** Sum over the batch of each column. */
export function sumRows(x: Tensor): Tensor {
  return x.graph.add(SumRows, [x], null).output;
}

export const ScaleColumns: OpDef<null> = {
  type: 'ScaleColumns',
  infer: ([x, factors]) => {
    perColumn('ScaleColumns', rowsOfFloats('ScaleColumns', x!), factors!, 'factor');
    return [x!.spec];
  },
  gradient: (op, [grad]) => {
    const [x, factors] = op.inputs as [Tensor, Tensor];
    return [grad && scaleColumns(grad, factors), grad && sumRows(mul(grad, x))];
  },
};

/** Each column of `x` times its factor. */
export function scaleColumns(x: Tensor, factors: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(ScaleColumns, [x, factors], null, nameOf('scaleColumns', options)).output;
}
