/**
 * @file Ops that move parts of rows: reshape, transpose, slices, concatenation and stacks of inner dimensions.
 *
 * A tensor `[batch, n, d]` is rows of n * d floats, so a change of shape, and a slice of the first inner dimension, are
 * views. The other ones copy.
 */
import { elementCount, misfit, type OpDef, shapeText, type Tensor, type TensorSpec } from '../graph.js';
import { checkWhole, cutAt, innerShape, withAxis } from './inner-shape.js';
import { AssembleColumns, Columns } from './math.js';

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
export function reshape(x: Tensor, sizes: readonly number[], name?: string): Tensor {
  const known = sizes.filter((size) => size !== -1);
  const rest = x.columns / elementCount(known);
  const shape = sizes.map((size) => (size === -1 ? rest : size));
  for (const size of shape) checkWhole('Reshape', 'a size', size);
  return x.graph.add(Reshape, [x], { shape }, name).output;
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
export function transposeInner(x: Tensor, name?: string): Tensor {
  const sizes = innerShape('TransposeInner', x);
  if (sizes.length < 2)
    throw misfit(name ?? 'TransposeInner', `${shapeText(x.spec.shape)} has no two inner dimensions`);
  const [n, inner] = sizes.slice(-2) as [number, number];
  return x.graph.add(TransposeInner, [x], { outer: elementCount(sizes.slice(0, -2)), n, inner }, name).output;
}

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
export function sliceInner(x: Tensor, axis: number, start: number, end: number, name?: string): Tensor {
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
export function splitInner(x: Tensor, axis: number, parts: number, name?: string): Tensor[] {
  const { n } = cutAt('SplitInner', x, axis);
  if (n % checkWhole('SplitInner', 'the number of parts', parts) !== 0) {
    throw misfit(name ?? 'SplitInner', `${n} positions of ${shapeText(x.spec.shape)} are not ${parts} equal parts`);
  }
  const size = n / parts;
  return Array.from({ length: parts }, (_, i) => sliceInner(x, axis, i * size, (i + 1) * size, name));
}

/** Tensors joined along an inner axis; their other sizes must be equal. */
export function concatInner(inputs: readonly Tensor[], axis: number, name = 'concat'): Tensor {
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

/** Tensors of one shape as positions of a new first inner axis: n of `[batch, d]` → `[batch, n, d]`. */
export function stack(inputs: readonly Tensor[], name = 'stack'): Tensor {
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
export function unstack(x: Tensor, name?: string): Tensor[] {
  const { n, inner } = cutAt('Unstack', x, 1);
  const shape = withAxis(x.spec.shape, 1);
  return Array.from(
    { length: n },
    (_, i) => x.graph.add(Columns, [x], { start: i * inner, end: (i + 1) * inner, shape }, name ?? 'unstack').output,
  );
}
