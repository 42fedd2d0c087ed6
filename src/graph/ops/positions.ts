/**
 * @file Positions of an inner axis: ranges, equal parts, their concatenation, and any list of positions.
 *
 * A range of the first inner axis is a view. The other ones copy.
 */

import { checkOptions } from '../../base/check-options.js';
import { misfit, type OpDef, shapeText, type Tensor, type TensorSpec } from '../graph.js';
import { AssembleColumns, Columns } from './columns.js';
import { type AxisOptions, type Cut, checkWhole, cutAt, withAxis } from './inner-shape.js';

/** `blocks` runs of `width` floats, `step` apart, from `start` on. */
export interface SliceAttrs {
  readonly blocks: number;
  readonly step: number;
  readonly start: number;
  readonly width: number;
  readonly spec: TensorSpec;
}

export const SliceInner: OpDef<SliceAttrs> = {
  type: 'SliceInner',
  infer: (_, { spec }) => [spec],
  gradient: (op, [grad]) => {
    const { blocks, step, start, width } = op.attrs;
    const attrs: AssembleAttrs = { blocks, step, parts: [{ start, width }], spec: op.inputs[0]!.spec };
    return [grad && op.graph.add(AssembleBlocks, [grad], attrs).output];
  },
};

export interface AssembleAttrs {
  readonly blocks: number;
  readonly step: number;
  readonly parts: readonly { readonly start: number; readonly width: number }[];
  readonly spec: TensorSpec;
}

/** Runs of floats put together from parts; parts that overlap add up, the rest is zero. */
export const AssembleBlocks: OpDef<AssembleAttrs> = {
  type: 'AssembleBlocks',
  infer: (_, { spec }) => [spec],
  gradient: (op, [grad]) =>
    op.inputs.map((input, index) => {
      const { blocks, step, parts } = op.attrs;
      return grad && op.graph.add(SliceInner, [grad], { blocks, step, ...parts[index]!, spec: input.spec }).output;
    }),
};

/** Positions `[start, end)` of an inner axis. Of the first inner axis it is a view. */
export function sliceInner(x: Tensor, start: number, end: number, options: AxisOptions = {}): Tensor {
  const { axis = 1, name } = checkOptions('sliceInner', options, ['axis', 'name']);
  const cut = cutAt('SliceInner', x, axis);
  if (!(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= cut.n)) {
    throw misfit(name ?? 'SliceInner', `[${start}, ${end}) of ${cut.n} positions of ${shapeText(x.spec.shape)}`);
  }
  const shape = withAxis(x.spec.shape, cut.axis, end - start);
  const [from, width] = [start * cut.inner, (end - start) * cut.inner];
  if (cut.outer === 1) return x.graph.add(Columns, [x], { start: from, end: from + width, shape }, name).output;
  const attrs: SliceAttrs = {
    blocks: cut.outer,
    step: cut.n * cut.inner,
    start: from,
    width,
    spec: { dtype: 'float32', shape },
  };
  return x.graph.add(SliceInner, [x], attrs, name).output;
}

/** Equal parts of an inner axis, in order. */
export function splitInner(x: Tensor, parts: number, options: AxisOptions = {}): Tensor[] {
  const { axis = 1, name } = checkOptions('splitInner', options, ['axis', 'name']);
  const { n } = cutAt('SplitInner', x, axis);
  if (n % checkWhole('SplitInner', 'the number of parts', parts) !== 0) {
    throw misfit(name ?? 'SplitInner', `${n} positions of ${shapeText(x.spec.shape)} are not ${parts} equal parts`);
  }
  const size = n / parts;
  return Array.from({ length: parts }, (_, i) => sliceInner(x, i * size, (i + 1) * size, { axis, name }));
}

/** Tensors joined along an inner axis; their other sizes must be equal. */
export function concatInner(inputs: readonly Tensor[], options: AxisOptions = {}): Tensor {
  const { axis = 1, name = 'concat' } = checkOptions('concatInner', options, ['axis', 'name']);
  const first = inputs[0];
  if (first === undefined) throw misfit(name, 'there is nothing to join');
  const cuts = inputs.map((input) => cutAt(name, input, axis));
  const { outer, inner, axis: at } = cuts[0]!;
  inputs.forEach((input, index) => {
    const [a, b] = [withAxis(first.spec.shape, at), withAxis(input.spec.shape, cuts[index]!.axis)];
    if (shapeText(a) !== shapeText(b)) {
      throw misfit(
        name,
        `${shapeText(first.spec.shape)} and ${shapeText(input.spec.shape)} differ beside axis ${axis}`,
      );
    }
  });
  const widths = cuts.map((cut) => cut.n * inner);
  const step = widths.reduce((sum, width) => sum + width, 0);
  const shape = withAxis(first.spec.shape, at, step / inner);
  let next = 0;
  const parts = widths.map((width) => {
    const start = next;
    next += width;
    return { start, width };
  });
  if (outer === 1) {
    const attrs = { starts: parts.map(({ start }) => start), width: step, shape };
    return first.graph.add(AssembleColumns, inputs, attrs, name).output;
  }
  const attrs: AssembleAttrs = { blocks: outer, step, parts, spec: { dtype: 'float32', shape } };
  return first.graph.add(AssembleBlocks, inputs, attrs, name).output;
}

export interface GatherAttrs extends Cut {
  readonly indices: readonly number[];
  readonly spec: TensorSpec;
}

export const GatherInner: OpDef<GatherAttrs> = {
  type: 'GatherInner',
  infer: (_, { spec }) => [spec],
  gradient: (op, [grad]) => [
    grad && op.graph.add(ScatterInner, [grad], { ...op.attrs, spec: op.inputs[0]!.spec }).output,
  ],
};

/** Adds position k to position `indices[k]`. */
export const ScatterInner: OpDef<GatherAttrs> = {
  type: 'ScatterInner',
  infer: (_, { spec }) => [spec],
  gradient: (op, [grad]) => [
    grad && op.graph.add(GatherInner, [grad], { ...op.attrs, spec: op.inputs[0]!.spec }).output,
  ],
};

/** The positions `indices` of an inner axis, in that order; one may come more than once. */
export function gatherInner(x: Tensor, indices: readonly number[], options: AxisOptions = {}): Tensor {
  const { axis = 1, name } = checkOptions('gatherInner', options, ['axis', 'name']);
  const cut = cutAt('GatherInner', x, axis);
  const wrong = indices.find((index) => !(Number.isInteger(index) && index >= 0 && index < cut.n));
  if (indices.length === 0 || wrong !== undefined) {
    throw misfit(name ?? 'GatherInner', `position ${wrong} of axis ${axis} of ${shapeText(x.spec.shape)}`);
  }
  const spec: TensorSpec = { dtype: 'float32', shape: withAxis(x.spec.shape, cut.axis, indices.length) };
  return x.graph.add(GatherInner, [x], { ...cut, indices: [...indices], spec }, name).output;
}
