/**
 * @file Ops inside an example: sums, means, maxima and the largest values of an inner axis, factors and dot products of
 * vectors, and operands that all examples share.
 */

import { checkOptions } from '../../base/check-options.js';
import { elementCount, misfit, type OpDef, sameShape, shapeText, type Tensor, type TensorSpec } from '../graph.js';
import { type AxisOptions, type Cut, checkWhole, cutAt, innerShape, withAxis } from './inner-shape.js';
import { nameOf, type OpOptions } from './options.js';

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
export function sumInner(x: Tensor, options: AxisOptions = {}): Tensor {
  const { axis = 1, name = 'Sum' } = checkOptions('sumInner', options, ['axis', 'name']);
  const cut = cutAt(name, x, axis);
  return x.graph.add(SumInner, [x], { ...cut, factor: 1, spec: without(x, cut) }, name).output;
}

/** Mean over an inner axis. */
export function meanInner(x: Tensor, options: AxisOptions = {}): Tensor {
  const { axis = 1, name = 'Mean' } = checkOptions('meanInner', options, ['axis', 'name']);
  const cut = cutAt(name, x, axis);
  return x.graph.add(SumInner, [x], { ...cut, factor: 1 / cut.n, spec: without(x, cut) }, name).output;
}

/** Maximum over an inner axis; equal values share its gradient, as in TensorFlow. */
export function maxInner(x: Tensor, options: AxisOptions = {}): Tensor {
  const { axis = 1, name = 'Max' } = checkOptions('maxInner', options, ['axis', 'name']);
  const cut = cutAt(name, x, axis);
  return x.graph.add(MaxInner, [x], { ...cut, spec: without(x, cut) }, name).output;
}

/**
 * `x` repeated `n` times along a new inner axis: `[batch, d] → [batch, n, d]` for axis 1, `[batch, d, n]` for axis 2.
 */
export function broadcastInner(x: Tensor, n: number, options: AxisOptions = {}): Tensor {
  const { axis = 1, name = 'BroadcastInner' } = checkOptions('broadcastInner', options, ['axis', 'name']);
  checkWhole(name, 'the number of positions', n);
  const { shape } = x.spec;
  const at = axis < 0 ? shape.length + 1 + axis : axis;
  const wide = [...shape.slice(0, at), n, ...shape.slice(at)];
  const inner = shape.slice(at).reduce<number>((size, dim) => size * (dim as number), 1);
  checkWhole(name, 'the new axis', at);
  const attrs = { axis: at, outer: x.columns / inner, n, inner, factor: 1 };
  return x.graph.add(BroadcastInner, [x], { ...attrs, spec: { dtype: 'float32', shape: wide } }, name).output;
}

export interface TopKAttrs {
  readonly groups: number;
  readonly width: number;
  readonly k: number;
}

/** Outputs: values, indices as floats. */
export const TopK: OpDef<TopKAttrs> = {
  type: 'TopK',
  infer: ([x], { k }) => {
    const spec = { dtype: 'float32', shape: [...x!.spec.shape.slice(0, -1), k] } as const;
    return [spec, spec];
  },
  gradient: (op, [grad]) => [grad && op.graph.add(TopKGrad, [grad, op.outputs[1]!, op.inputs[0]!], op.attrs).output],
};

/** Inputs: gradient of the values, their indices, x (for its shape only). */
export const TopKGrad: OpDef<TopKAttrs> = {
  type: 'TopKGrad',
  infer: ([, , x]) => [x!.spec],
};

/**
 * The `k` largest values of the last dimension, largest first, and where they were, as floats; of equal values the
 * first comes first. Gradients go to the values that were taken.
 */
export function topK(x: Tensor, k: number, options: OpOptions = {}): { values: Tensor; indices: Tensor } {
  const name = nameOf('topK', options, 'TopK');
  const sizes = innerShape(name, x);
  const width = sizes.at(-1) ?? 0;
  if (checkWhole(name, 'k', k) > width) throw misfit(name, `${k} of the ${width} values of ${shapeText(x.spec.shape)}`);
  const attrs = { groups: elementCount(sizes.slice(0, -1)), width, k };
  const [values, indices] = x.graph.add(TopK, [x], attrs, name).outputs as [Tensor, Tensor];
  return { values, indices };
}

/** Inputs: factors, x. */
export const ScaleGroups: OpDef<null> = {
  type: 'ScaleGroups',
  infer: ([factors, x]) => {
    innerShape('ScaleGroups', factors!);
    if (innerShape('ScaleGroups', x!).length < 2 || !sameShape(factors!.spec.shape, x!.spec.shape.slice(0, -1))) {
      const [f, v] = [shapeText(factors!.spec.shape), shapeText(x!.spec.shape)];
      throw misfit('ScaleGroups', `${f} are not the factors of the vectors of ${v}`);
    }
    return [x!.spec];
  },
  gradient: (op, [grad]) => [grad && groupDot(grad, op.inputs[1]!), grad && scaleGroups(op.inputs[0]!, grad)],
};

/** Each vector of `x` times its factor: `[batch, n] x [batch, n, d] → [batch, n, d]`. */
export function scaleGroups(factors: Tensor, x: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(ScaleGroups, [factors, x], null, nameOf('scaleGroups', options)).output;
}

export const GroupDot: OpDef<null> = {
  type: 'GroupDot',
  infer: ([a, b]) => {
    if (innerShape('GroupDot', a!).length < 2 || !sameShape(a!.spec.shape, b!.spec.shape)) {
      throw misfit(
        'GroupDot',
        `${shapeText(a!.spec.shape)} and ${shapeText(b!.spec.shape)} are no equal lists of vectors`,
      );
    }
    return [{ dtype: 'float32', shape: a!.spec.shape.slice(0, -1) }];
  },
  gradient: (op, [grad]) => [grad && scaleGroups(grad, op.inputs[1]!), grad && scaleGroups(grad, op.inputs[0]!)],
};

/** Dot products of the vectors at equal positions: `[batch, n, d] x [batch, n, d] → [batch, n]`. */
export function groupDot(a: Tensor, b: Tensor, options: OpOptions = {}): Tensor {
  return a.graph.add(GroupDot, [a, b], null, nameOf('groupDot', options)).output;
}

export type SharedKind = 'add' | 'mul';

/** Inputs: x, v. */
export const Shared: OpDef<{ readonly kind: SharedKind }> = {
  type: 'Shared',
  infer: ([x, v], { kind }) => {
    const sizes = innerShape('Shared', x!);
    const { shape, dtype, partial } = v!.spec;
    const fits = !v!.perExample && dtype === 'float32' && !partial && sameShape(sizes.slice(-shape.length), shape);
    if (!fits || shape.length === 0) {
      const what = `${v!.name} of shape ${shapeText(shape)} does not end ${shapeText(x!.spec.shape)}`;
      throw misfit(kind === 'add' ? 'AddShared' : 'MulShared', what);
    }
    return [x!.spec];
  },
  gradient: (op, [grad]) => {
    const [x, v] = op.inputs as [Tensor, Tensor];
    if (grad === undefined) return [undefined, undefined];
    if (op.attrs.kind === 'add') return [grad, op.graph.add(SumShared, [grad], { like: v }).output];
    return [mulShared(grad, v), op.graph.add(SumShared, [grad, x], { like: v }).output];
  },
};

/** Sum over the batch and the leading sizes of the first input, or of its product with the second. */
export const SumShared: OpDef<{ readonly like: Tensor }> = {
  type: 'SumShared',
  infer: (_, { like }) => [{ ...like.spec, partial: true }],
};

/** x + v, where v is a variable or constant of the last sizes of x: `[d]` or `[n, d]` for `[batch, n, d]`. */
export function addShared(x: Tensor, v: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(Shared, [x, v], { kind: 'add' }, nameOf('addShared', options, 'AddShared')).output;
}

/** x * v, elementwise, with the shapes of addShared. */
export function mulShared(x: Tensor, v: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(Shared, [x, v], { kind: 'mul' }, nameOf('mulShared', options, 'MulShared')).output;
}
