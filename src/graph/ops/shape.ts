/**
 * @file Ops that move parts of rows: reshape, transpose and stacks of inner dimensions.
 *
 * A tensor `[batch, n, d]` is rows of n * d floats, so a change of shape is a view, and so are the parts of a stack.
 * Transposing and stacking copy.
 */

import { elementCount, misfit, type OpDef, shapeText, type Tensor } from '../graph.js';
import { AssembleColumns, Columns } from './columns.js';
import { checkWhole, cutAt, innerShape, withAxis } from './inner-shape.js';
import { nameOf, type OpOptions } from './options.js';

export const Reshape: OpDef<{ readonly shape: readonly number[] }> = {
  type: 'Reshape',
  infer: ([x], { shape }) => {
    innerShape('Reshape', x!);
    if (elementCount(shape) !== x!.columns) {
      throw misfit('Reshape', `${shapeText(x!.spec.shape)} does not fill ${shapeText(['batch', ...shape])}`);
    }
    return [{ dtype: 'float32', shape: ['batch', ...shape] }];
  },
  gradient: (op, [grad]) => [grad && reshape(grad, innerShape('Reshape', op.inputs[0]!))],
};

/** The same rows under other sizes after the batch; one of them may be -1. A view: nothing is copied. */
export function reshape(x: Tensor, sizes: readonly number[], options: OpOptions = {}): Tensor {
  const known = sizes.filter((size) => size !== -1);
  const rest = x.columns / elementCount(known);
  const shape = sizes.map((size) => (size === -1 ? rest : size));
  for (const size of shape) checkWhole('Reshape', 'a size', size);
  return x.graph.add(Reshape, [x], { shape }, nameOf('reshape', options)).output;
}

export interface TransposeAttrs {
  readonly outer: number;
  readonly n: number;
  readonly inner: number;
}

export const TransposeInner: OpDef<TransposeAttrs> = {
  type: 'TransposeInner',
  infer: ([x]) => {
    const { shape } = x!.spec;
    return [{ dtype: 'float32', shape: [...shape.slice(0, -2), shape.at(-1)!, shape.at(-2)!] }];
  },
  gradient: (_, [grad]) => [grad && transposeInner(grad)],
};

/** Swaps the last two dimensions: `[batch, n, d] → [batch, d, n]`. */
export function transposeInner(x: Tensor, options: OpOptions = {}): Tensor {
  const name = nameOf('transposeInner', options);
  const sizes = innerShape('TransposeInner', x);
  if (sizes.length < 2)
    throw misfit(name ?? 'TransposeInner', `${shapeText(x.spec.shape)} has no two inner dimensions`);
  const [n, inner] = sizes.slice(-2) as [number, number];
  return x.graph.add(TransposeInner, [x], { outer: elementCount(sizes.slice(0, -2)), n, inner }, name).output;
}

/** Tensors of one shape as positions of a new first inner axis: n of `[batch, d]` → `[batch, n, d]`. */
export function stack(inputs: readonly Tensor[], options: OpOptions = {}): Tensor {
  const name = nameOf('stack', options, 'stack');
  const first = inputs[0];
  if (first === undefined) throw misfit(name, 'there is nothing to stack');
  const sizes = innerShape(name, first);
  for (const { spec } of inputs) {
    if (shapeText(spec.shape) !== shapeText(first.spec.shape)) {
      throw misfit(name, `shapes ${shapeText(first.spec.shape)} and ${shapeText(spec.shape)} differ`);
    }
  }
  const width = first.columns;
  const starts = inputs.map((_, index) => index * width);
  const shape = ['batch', inputs.length, ...sizes] as const;
  return first.graph.add(AssembleColumns, inputs, { starts, width: width * inputs.length, shape }, name).output;
}

/** The positions of the first inner axis apart: `[batch, n, d]` → n of `[batch, d]`. Views. */
export function unstack(x: Tensor, options: OpOptions = {}): Tensor[] {
  const name = nameOf('unstack', options, 'unstack');
  const { n, inner } = cutAt('Unstack', x, 1);
  const shape = withAxis(x.spec.shape, 1);
  return Array.from(
    { length: n },
    (_, i) => x.graph.add(Columns, [x], { start: i * inner, end: (i + 1) * inner, shape }, name).output,
  );
}
