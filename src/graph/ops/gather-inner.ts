/** @file Positions of an inner axis by a list that is known when the graph is built. */
import { misfit, type OpDef, shapeText, type Tensor, type TensorSpec } from '../graph.js';
import { type Cut, cutAt, withAxis } from './inner-shape.js';

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
export function gatherInner(x: Tensor, indices: readonly number[], axis = 1, name?: string): Tensor {
  const cut = cutAt('GatherInner', x, axis);
  const wrong = indices.find((index) => !(Number.isInteger(index) && index >= 0 && index < cut.n));
  if (indices.length === 0 || wrong !== undefined) {
    throw misfit(name ?? 'GatherInner', `position ${wrong} of axis ${axis} of ${shapeText(x.spec.shape)}`);
  }
  const spec: TensorSpec = { dtype: 'float32', shape: withAxis(x.spec.shape, cut.axis, indices.length) };
  return x.graph.add(GatherInner, [x], { ...cut, indices: [...indices], spec }, name).output;
}
