/** @file Sums, means and maxima over an inner axis, and the repetition that undoes them. */
import type { OpDef, Tensor, TensorSpec } from '../graph.js';
import { type Cut, checkWhole, cutAt, withAxis } from './inner-shape.js';

export interface InnerAttrs extends Cut {
  readonly factor: number;
  readonly spec: TensorSpec;
}

export const SumInner: OpDef<InnerAttrs> = {
  type: 'SumInner',
  infer: (_, { spec }) => [spec],
  gradient: (op, [grad]) => [
    grad && op.graph.add(BroadcastInner, [grad], { ...op.attrs, spec: op.inputs[0]!.spec }).output,
  ],
};

export const BroadcastInner: OpDef<InnerAttrs> = {
  type: 'BroadcastInner',
  infer: (_, { spec }) => [spec],
  gradient: (op, [grad]) => [grad && op.graph.add(SumInner, [grad], { ...op.attrs, spec: op.inputs[0]!.spec }).output],
};

export const MaxInner: OpDef<Omit<InnerAttrs, 'factor'>> = {
  type: 'MaxInner',
  infer: (_, { spec }) => [spec],
  gradient: (op, [grad]) => [grad && op.graph.add(MaxInnerGrad, [grad, op.inputs[0]!, op.output], op.attrs).output],
};

/** Inputs: gradient of the maxima, x, the maxima. */
export const MaxInnerGrad: OpDef<Omit<InnerAttrs, 'factor'>> = {
  type: 'MaxInnerGrad',
  infer: ([, x]) => [x!.spec],
};

function without(x: Tensor, cut: Cut): TensorSpec {
  return { dtype: 'float32', shape: withAxis(x.spec.shape, cut.axis) };
}

/** Sum over an inner axis: `[batch, n, d] → [batch, d]` for axis 1, `[batch, n]` for axis 2. */
export function sumInner(x: Tensor, axis = 1, name = 'Sum'): Tensor {
  const cut = cutAt(name, x, axis);
  return x.graph.add(SumInner, [x], { ...cut, factor: 1, spec: without(x, cut) }, name).output;
}

/** Mean over an inner axis. */
export function meanInner(x: Tensor, axis = 1, name = 'Mean'): Tensor {
  const cut = cutAt(name, x, axis);
  return x.graph.add(SumInner, [x], { ...cut, factor: 1 / cut.n, spec: without(x, cut) }, name).output;
}

/** Maximum over an inner axis; equal values share its gradient, as in TensorFlow. */
export function maxInner(x: Tensor, axis = 1, name = 'Max'): Tensor {
  const cut = cutAt(name, x, axis);
  return x.graph.add(MaxInner, [x], { ...cut, spec: without(x, cut) }, name).output;
}

/** `x` repeated `n` times along a new inner axis: `[batch, d] → [batch, n, d]` for axis 1, `[batch, d, n]` for axis 2. */
export function broadcastInner(x: Tensor, n: number, axis = 1, name = 'BroadcastInner'): Tensor {
  checkWhole(name, 'the number of positions', n);
  const { shape } = x.spec;
  const at = axis < 0 ? shape.length + 1 + axis : axis;
  const wide = [...shape.slice(0, at), n, ...shape.slice(at)];
  const inner = shape.slice(at).reduce<number>((size, dim) => size * (dim as number), 1);
  checkWhole(name, 'the new axis', at);
  const attrs = { axis: at, outer: x.columns / inner, n, inner, factor: 1 };
  return x.graph.add(BroadcastInner, [x], { ...attrs, spec: { dtype: 'float32', shape: wide } }, name).output;
}
