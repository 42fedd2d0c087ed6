/** @file Factors and dot products of the vectors of an example. */
import { misfit, type OpDef, sameShape, shapeText, type Tensor } from '../graph.js';
import { innerShape } from './inner-shape.js';

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
export function scaleGroups(factors: Tensor, x: Tensor, name?: string): Tensor {
  return x.graph.add(ScaleGroups, [factors, x], null, name).output;
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
export function groupDot(a: Tensor, b: Tensor, name?: string): Tensor {
  return a.graph.add(GroupDot, [a, b], null, name).output;
}
