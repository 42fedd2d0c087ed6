/**
 * @file Activations. The gradients of relu, sigmoid and tanh need only the output, those of the others their input.
 */

import { checkOptions } from '../../base/check-options.js';
import { misfit, type OpDef, type Tensor } from '../graph.js';
import { floats, perColumn, rowsOfFloats } from './checks.js';
import { addN, mul, sub } from './elementwise.js';
import { batchNorm } from './norms.js';
import { nameOf, type OpOptions } from './options.js';
import { scaleColumns } from './rows.js';
import type { TrainingOption } from './training.js';

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

/** max(x, 0). */
export const relu = (x: Tensor, options: OpOptions = {}): Tensor =>
  x.graph.add(Activation, [x], { kind: 'relu' }, nameOf('relu', options, 'Relu')).output;
/** 1 / (1 + exp(-x)). */
export const sigmoid = (x: Tensor, options: OpOptions = {}): Tensor =>
  x.graph.add(Activation, [x], { kind: 'sigmoid' }, nameOf('sigmoid', options, 'Sigmoid')).output;
/** The hyperbolic tangent of each element. */
export const tanh = (x: Tensor, options: OpOptions = {}): Tensor =>
  x.graph.add(Activation, [x], { kind: 'tanh' }, nameOf('tanh', options, 'Tanh')).output;

export type SmoothKind = 'gelu' | 'geluTanh' | 'swish' | 'softplus';

export const SmoothActivation: OpDef<{ readonly kind: SmoothKind }> = {
  type: 'SmoothActivation',
  infer: ([x], { kind }) => [rowsOfFloats(kind, x!).spec],
  gradient: (op, [grad]) => [
    grad && op.graph.add(SmoothActivationGrad, [grad, op.inputs[0]!], op.attrs, `${op.attrs.kind}_grad`).output,
  ],
};

export const SmoothActivationGrad: OpDef<{ readonly kind: SmoothKind }> = {
  type: 'SmoothActivationGrad',
  infer: ([grad]) => [grad!.spec],
};

export interface GeluOptions extends OpOptions {
  /** The tanh form, which is cheaper; the exact one is x * Phi(x). */
  readonly approximate?: boolean;
}

/** x times the standard normal distribution at x. */
export function gelu(x: Tensor, options: GeluOptions = {}): Tensor {
  const { approximate = false, name = 'Gelu' } = checkOptions('gelu', options, ['approximate', 'name']);
  return x.graph.add(SmoothActivation, [x], { kind: approximate ? 'geluTanh' : 'gelu' }, name).output;
}

/** x * sigmoid(x), also called silu. */
export const swish = (x: Tensor, options: OpOptions = {}): Tensor =>
  x.graph.add(SmoothActivation, [x], { kind: 'swish' }, nameOf('swish', options, 'Swish')).output;
/** Another name of swish. */
export const silu = swish;

/** log(1 + exp(x)). */
export const softplus = (x: Tensor, options: OpOptions = {}): Tensor =>
  x.graph.add(SmoothActivation, [x], { kind: 'softplus' }, nameOf('softplus', options, 'Softplus')).output;

export const LeakyRelu: OpDef<{ readonly slope: number }> = {
  type: 'LeakyRelu',
  infer: ([x], { slope }) => {
    if (!Number.isFinite(slope)) throw misfit('LeakyRelu', `${slope} is no slope`);
    return [rowsOfFloats('LeakyRelu', x!).spec];
  },
  gradient: (op, [grad]) => [grad && op.graph.add(LeakyReluGrad, [grad, op.inputs[0]!], op.attrs).output],
};

export const LeakyReluGrad: OpDef<{ readonly slope: number }> = {
  type: 'LeakyReluGrad',
  infer: ([grad]) => [grad!.spec],
};

export interface LeakyReluOptions extends OpOptions {
  /** Default: 0.2. */
  readonly slope?: number;
}

/** x above zero, slope * x below it. */
export function leakyRelu(x: Tensor, options: LeakyReluOptions = {}): Tensor {
  const { slope = 0.2, name } = checkOptions('leakyRelu', options, ['slope', 'name']);
  return x.graph.add(LeakyRelu, [x], { slope }, name).output;
}

export const Prelu: OpDef<null> = {
  type: 'Prelu',
  infer: ([x, slope]) => {
    perColumn('Prelu', rowsOfFloats('Prelu', x!), slope!, 'slope');
    return [x!.spec];
  },
  gradient: (op, [grad]) => {
    const [x, slope] = op.inputs as [Tensor, Tensor];
    return [
      grad && op.graph.add(PreluGrad, [grad, x, slope], null).output,
      grad && op.graph.add(PreluSlopeGrad, [grad, x], null).output,
    ];
  },
};

export const PreluGrad: OpDef<null> = { type: 'PreluGrad', infer: ([grad]) => [grad!.spec] };

export const PreluSlopeGrad: OpDef<null> = {
  type: 'PreluSlopeGrad',
  infer: ([grad]) => [{ dtype: 'float32', shape: [grad!.columns], partial: true }],
};

/** x above zero, below it x times the slope of its column, which is learned. */
export function prelu(x: Tensor, slope: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(Prelu, [x, slope], null, nameOf('prelu', options)).output;
}

export interface DiceOptions extends OpOptions, TrainingOption {
  /** Share of the moving averages that a step keeps. Default: 0.99. */
  readonly momentum?: number;
  /** Default: 1e-9. */
  readonly epsilon?: number;
}

/**
 * p * x + (1 - p) * alpha * x, with p the sigmoid of x normalised over the batch, column by column. `alpha`, one per
 * column, is learned; it mostly starts from zeros. Statistics are as with batchNorm. Updates of the moving averages are
 * in the collection UPDATE_OPS.
 */
export function dice(x: Tensor, alpha: Tensor, options: DiceOptions = {}): Tensor {
  const keys = ['training', 'momentum', 'epsilon', 'name'] as const;
  const { epsilon = 1e-9, name = 'dice', ...more } = checkOptions('dice', options, keys);
  return x.graph.nameScope(name, () => {
    const p = sigmoid(batchNorm(x, { ...more, epsilon, center: false, scale: false }));
    const kept = mul(p, x);
    return addN([kept, scaleColumns(sub(x, kept), alpha)]);
  });
}
