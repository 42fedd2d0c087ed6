/** @file What attention is made of: softmax with a mask, scores per head and what they take of the values. */

import { checkOptions } from '../../base/check-options.js';
import { elementCount, misfit, type OpDef, sameShape, shapeText, type Tensor, type TensorSpec } from '../graph.js';
import { BatchMatMul, swapped } from './batch-matmul.js';
import { checkWhole, innerShape } from './inner-shape.js';
import { nameOf, type OpOptions } from './options.js';

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

export interface SoftmaxOptions extends OpOptions {
  /** 0 where x does not count and the result is 0, of the shape of x or `[batch, n]` for all groups of n. */
  readonly mask?: Tensor | undefined;
}

/** exp(x) / sum of exp(x) over the last dimension. Where all is masked the result is 0. The mask gets no gradient. */
export function softmax(x: Tensor, options: SoftmaxOptions = {}): Tensor {
  const { mask, name = 'Softmax' } = checkOptions('softmax', options, ['mask', 'name']);
  const sizes = innerShape(name, x);
  const width = sizes.at(-1);
  if (width === undefined) throw misfit(name, `${shapeText(x.spec.shape)} has no inner dimension`);
  if (mask !== undefined) {
    const fits = sameShape(mask.spec.shape, x.spec.shape) || sameShape(mask.spec.shape, ['batch', width]);
    if (!fits || mask.spec.dtype !== 'float32') {
      throw misfit(name, `a mask of ${shapeText(mask.spec.shape)} does not fit ${shapeText(x.spec.shape)}`);
    }
  }
  const attrs = { groups: elementCount(sizes.slice(0, -1)), width };
  return x.graph.add(Softmax, mask === undefined ? [x] : [x, mask], attrs, name).output;
}

export interface HeadOptions extends OpOptions {
  readonly heads: number;
}

/**
 * Scores of attention: `[batch, n, heads * d] x [batch, p, heads * d] → [batch, heads, n, p]`, a dot product per head.
 */
export function headScores(query: Tensor, key: Tensor, options: HeadOptions): Tensor {
  const { heads, name = 'HeadScores' } = checkOptions('headScores', options, ['heads', 'name']);
  const [n, width] = heads2d(name, query, heads);
  const [p, keyWidth] = heads2d(name, key, heads);
  if (width !== keyWidth) throw misfit(name, `queries of ${width} and keys of ${keyWidth} floats do not fit together`);
  const d = width / heads;
  const spec: TensorSpec = { dtype: 'float32', shape: ['batch', heads, n, p] };
  const side = { group: d, row: width, col: 1 };
  const attrs = { groups: heads, m: n, n: p, k: d, a: side, b: swapped(side), spec };
  return query.graph.add(BatchMatMul, [query, key], { ...attrs, c: { group: n * p, row: p, col: 1 } }, name).output;
}

/** What attention takes of the values: `[batch, heads, n, p] x [batch, p, heads * d] → [batch, n, heads * d]`. */
export function headMix(weights: Tensor, value: Tensor, options: OpOptions = {}): Tensor {
  const name = nameOf('headMix', options, 'HeadMix');
  const [heads, n, p] = innerShape(name, weights) as [number, number, number];
  const [positions, width] = heads2d(name, value, heads);
  if (positions !== p) throw misfit(name, `${p} weights per position for ${positions} values`);
  const side = { group: width / heads, row: width, col: 1 };
  const spec: TensorSpec = { dtype: 'float32', shape: ['batch', n, width] };
  const attrs = { groups: heads, m: n, n: width / heads, k: p, a: { group: n * p, row: p, col: 1 }, b: side, c: side };
  return weights.graph.add(BatchMatMul, [weights, value], { ...attrs, spec }, name).output;
}

function heads2d(name: string, tensor: Tensor, heads: number): readonly [number, number] {
  const [positions, width, ...more] = innerShape(name, tensor);
  checkWhole(name, 'the number of heads', heads);
  if (positions === undefined || width === undefined || more.length > 0 || width % heads !== 0) {
    throw misfit(name, `${shapeText(tensor.spec.shape)} has no positions of ${heads} heads`);
  }
  return [positions, width];
}
