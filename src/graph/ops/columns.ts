/** @file Columns of the rows of examples: views of some, and tensors side by side. */

import { type Dim, misfit, type OpDef, type Tensor } from '../graph.js';
import { rowsOfFloats } from './checks.js';
import { nameOf, type OpOptions } from './options.js';

const batchOf = (columns: number): readonly Dim[] => (columns === 1 ? ['batch'] : ['batch', columns]);

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
export function columns(x: Tensor, start: number, end: number, options: OpOptions = {}): Tensor {
  return x.graph.add(Columns, [x], { start, end, shape: batchOf(end - start) }, nameOf('columns', options)).output;
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
      const end = start + rowsOfFloats('AssembleColumns', input).columns;
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
export function concatColumns(inputs: readonly Tensor[], options: OpOptions = {}): Tensor {
  const starts: number[] = [];
  let width = 0;
  for (const input of inputs) {
    starts.push(width);
    width += rowsOfFloats('Concat', input).columns;
  }
  const first = inputs[0];
  if (first === undefined) throw misfit('Concat', 'there is nothing to join');
  return first.graph.add(
    AssembleColumns,
    inputs,
    { starts, width, shape: batchOf(width) },
    nameOf('concatColumns', options, 'concat'),
  ).output;
}
