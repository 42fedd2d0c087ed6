/** @file Softmax over the last dimension, with a mask if there is one. */
import { elementCount, misfit, type OpDef, sameShape, shapeText, type Tensor } from '../graph.js';
import { innerShape } from './inner-shape.js';

export interface SoftmaxAttrs {
  readonly groups: number;
  readonly width: number;
}

/** Inputs: x and, if there is one, the mask. */
export const Softmax: OpDef<SoftmaxAttrs> = {
  type: 'Softmax',
  infer: ([x]) => [x!.spec],
  gradient: (op, [grad]) => [grad && op.graph.add(SoftmaxGrad, [grad, op.output], op.attrs).output, undefined],
};

/** Inputs: gradient of the result, the result. */
export const SoftmaxGrad: OpDef<SoftmaxAttrs> = {
  type: 'SoftmaxGrad',
  infer: ([grad]) => [grad!.spec],
};

export interface SoftmaxOptions {
  /** 0 where x does not count and the result is 0, of the shape of x or `[batch, n]` for all groups of n. */
  readonly mask?: Tensor;
}

/** exp(x) / sum of exp(x) over the last dimension. Where all is masked the result is 0. The mask gets no gradient. */
export function softmax(x: Tensor, options: SoftmaxOptions = {}, name = 'Softmax'): Tensor {
  const sizes = innerShape(name, x);
  const width = sizes.at(-1);
  if (width === undefined) throw misfit(name, `${shapeText(x.spec.shape)} has no inner dimension`);
  const { mask } = options;
  if (mask !== undefined) {
    const fits = sameShape(mask.spec.shape, x.spec.shape) || sameShape(mask.spec.shape, ['batch', width]);
    if (!fits || mask.spec.dtype !== 'float32') {
      throw misfit(name, `a mask of ${shapeText(mask.spec.shape)} does not fit ${shapeText(x.spec.shape)}`);
    }
  }
  const attrs = { groups: elementCount(sizes.slice(0, -1)), width };
  return x.graph.add(Softmax, mask === undefined ? [x] : [x, mask], attrs, name).output;
}
