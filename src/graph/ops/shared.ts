/** @file Per-example tensors with variables and constants that all examples share, broadcast over the leading sizes. */
import { misfit, type OpDef, sameShape, shapeText, type Tensor } from '../graph.js';
import { innerShape } from './inner-shape.js';

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
export function addShared(x: Tensor, v: Tensor, name = 'AddShared'): Tensor {
  return x.graph.add(Shared, [x, v], { kind: 'add' }, name).output;
}

/** x * v, elementwise, with the shapes of addShared. */
export function mulShared(x: Tensor, v: Tensor, name = 'MulShared'): Tensor {
  return x.graph.add(Shared, [x, v], { kind: 'mul' }, name).output;
}
