/** @file Matrix product, bias, activations and the loss, with their gradients. */
import { type Dim, misfit, type OpDef, shapeText, type Tensor, type TensorSpec } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { type LossOptions, weightLoss } from './loss-options.js';

// --- matrix product --------------------------------------------------------------------------------------------------

export interface MatMulAttrs {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

function floats(type: string, tensor: Tensor): Tensor {
  if (tensor.spec.dtype !== 'float32') throw misfit(type, `${tensor.name} holds ${tensor.spec.dtype}, not floats`);
  return tensor;
}

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
    if (n === 'batch' || (m === 'batch' && transposeA)) throw misfit('MatMul', 'the batch can only be rows or summed');
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

/** Matrix product. `[batch, k] x [k, n] → [batch, n]`; with `transposeA`, `[batch, k]ᵀ x [batch, n] → [k, n]`, summed over the batch. Sums over the batch are completed where needed. */
export function matMul(a: Tensor, b: Tensor, attrs: Partial<MatMulAttrs> = {}, name?: string): Tensor {
  const full = { transposeA: attrs.transposeA ?? false, transposeB: attrs.transposeB ?? false };
  // A product is linear: one sum over the batch may stay one, unless examples or another sum meet it.
  const completed = b.spec.partial && (a.perExample || a.spec.partial) ? batchSum(b) : b;
  const inputs = [a.spec.partial && completed.perExample ? batchSum(a) : a, completed];
  return a.graph.add(MatMul, inputs, full, name).output;
}

export const AddBias: OpDef<null> = {
  type: 'BiasAdd',
  infer: ([x, bias]) => {
    const fits = x!.perExample && bias!.spec.shape.length === 1 && !bias!.perExample && x!.columns === bias!.columns;
    if (!fits || floats('BiasAdd', bias!).spec.partial) {
      throw misfit('BiasAdd', `${shapeText(x!.spec.shape)} and ${shapeText(bias!.spec.shape)} do not fit together`);
    }
    return [x!.spec];
  },
  gradient: (_, [grad]) => [grad, grad && sumRows(grad)],
};

/** Adds a vector to every row. */
export function addBias(x: Tensor, bias: Tensor, name?: string): Tensor {
  return x.graph.add(AddBias, [x, bias], null, name).output;
}

export const SumRows: OpDef<null> = {
  type: 'BiasAddGrad',
  infer: ([x]) => [{ dtype: 'float32', shape: [x!.columns], partial: true }],
};

/** Sum over the batch of each column. */
export function sumRows(x: Tensor): Tensor {
  return x.graph.add(SumRows, [x], null).output;
}

// --- activations -----------------------------------------------------------------------------------------------------

export type ActivationKind = 'relu' | 'sigmoid' | 'tanh';

export const Activation: OpDef<{ readonly kind: ActivationKind }> = {
  type: 'Activation',
  infer: ([x]) => {
    if (!floats('Activation', x!).perExample) throw misfit('Activation', `${x!.name} must have a row per example`);
    return [x!.spec];
  },
  gradient: (op, [grad]) => [
    grad && op.graph.add(ActivationGrad, [grad, op.output], op.attrs, `${op.attrs.kind}_grad`).output,
  ],
};

export const ActivationGrad: OpDef<{ readonly kind: ActivationKind }> = {
  type: 'ActivationGrad',
  infer: ([grad]) => [grad!.spec],
};

export const relu = (x: Tensor, name = 'Relu'): Tensor => x.graph.add(Activation, [x], { kind: 'relu' }, name).output;
export const sigmoid = (x: Tensor, name = 'Sigmoid'): Tensor =>
  x.graph.add(Activation, [x], { kind: 'sigmoid' }, name).output;
export const tanh = (x: Tensor, name = 'Tanh'): Tensor => x.graph.add(Activation, [x], { kind: 'tanh' }, name).output;

// --- loss ------------------------------------------------------------------------------------------------------------

export const SigmoidCrossEntropy: OpDef<null> = {
  type: 'SigmoidCrossEntropyWithLogits',
  infer: ([logits, labels]) => {
    const single = (tensor: Tensor) =>
      floats('SigmoidCrossEntropyWithLogits', tensor).perExample && tensor.columns === 1;
    if (!single(logits!) || !single(labels!)) {
      throw misfit('SigmoidCrossEntropyWithLogits', 'one logit and one label per example are needed');
    }
    return [{ dtype: 'float32', shape: ['batch'] }];
  },
  gradient: (op, [grad]) => [
    grad && op.graph.add(SigmoidCrossEntropyGrad, [...op.inputs, grad], null).output,
    undefined,
  ],
};

export const SigmoidCrossEntropyGrad: OpDef<null> = {
  type: 'SigmoidCrossEntropyGrad',
  infer: ([logits]) => [logits!.spec],
};

/** Cross entropy of each example from its logit, in the stable form; labels get no gradient. A string is a name. */
export function sigmoidCrossEntropyWithLogits(
  logits: Tensor,
  labels: Tensor,
  options: string | LossOptions = {},
): Tensor {
  const { name, weights } = typeof options === 'string' ? { name: options } : options;
  const loss = logits.graph.add(SigmoidCrossEntropy, [logits, labels], null, name).output;
  return weightLoss(SigmoidCrossEntropy.type, loss, weights);
}
