/** @file Matrix product, with its gradient. */

import { checkOptions } from '../../base/check-options.js';
import { type Dim, misfit, type OpDef, shapeText, type Tensor, type TensorSpec } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { floats } from './checks.js';
import type { OpOptions } from './options.js';

export interface MatMulAttrs {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

export interface MatMulOptions extends OpOptions, Partial<MatMulAttrs> {}

function matrix(type: string, tensor: Tensor): readonly [Dim, number] {
  const [rows, cols] = floats(type, tensor).spec.shape;
  if (tensor.spec.shape.length !== 2 || typeof cols !== 'number') throw misfit(type, `${tensor.name} must be a matrix`);
  return [rows!, cols];
}

export const MatMul: OpDef<MatMulAttrs> = {
  type: 'MatMul',
  infer: ([a, b], { transposeA, transposeB }) => {
    const [ar, ac] = matrix('MatMul', a!);
    const [br, bc] = matrix('MatMul', b!);
    const [m, k] = transposeA ? [ac, ar] : [ar, ac];
    const [k2, n] = transposeB ? [bc, br] : [br, bc];
    if (k !== k2) {
      throw misfit('MatMul', `${shapeText(a!.spec.shape)} and ${shapeText(b!.spec.shape)} do not fit together`);
    }
    if (n === 'batch' || (m === 'batch' && transposeA)) {
      const hint = 'losses.inbatchSoftmaxLoss scores each example against the others of its batch';
      throw misfit('MatMul', 'the batch can only be rows or summed', hint);
    }
    const spec: TensorSpec = { dtype: 'float32', shape: [m, n] };
    // A product is linear in either side, so a sum over the batch stays one; of two there is no product per slice.
    const sums = [a!, b!].filter((input) => input.spec.partial).length + (k === 'batch' ? 1 : 0);
    if (sums > 1 || (sums === 1 && m === 'batch')) {
      throw misfit('MatMul', 'a sum over the batch must be completed with batchSum before it is used here');
    }
    return [sums === 1 ? { ...spec, partial: true } : spec];
  },
  gradient: (op, [grad]) => {
    if (grad === undefined) return [undefined, undefined];
    const { transposeA, transposeB } = op.attrs;
    const [a, b] = op.inputs as [Tensor, Tensor];
    const gradA = transposeA
      ? matMul(b, grad, { transposeA: transposeB, transposeB: true })
      : matMul(grad, b, { transposeB: !transposeB });
    const gradB = transposeB
      ? matMul(grad, a, { transposeA: true, transposeB: transposeA })
      : matMul(a, grad, { transposeA: !transposeA });
    return [gradA, gradB];
  },
};

/**
 * Matrix product. `[batch, k] x [k, n] → [batch, n]`; with `transposeA`, `[batch, k]ᵀ x [batch, n] → [k, n]`, summed
 * over the batch. Sums over the batch are completed where needed.
 */
export function matMul(a: Tensor, b: Tensor, options: MatMulOptions = {}): Tensor {
  const keys = ['transposeA', 'transposeB', 'name'] as const;
  const { transposeA = false, transposeB = false, name } = checkOptions('matMul', options, keys);
  // A product is linear: one sum over the batch may stay one, unless examples or another sum meet it.
  const completed = b.spec.partial && (a.perExample || a.spec.partial) ? batchSum(b) : b;
  const inputs = [a.spec.partial && completed.perExample ? batchSum(a) : a, completed];
  return a.graph.add(MatMul, inputs, { transposeA, transposeB }, name).output;
}
