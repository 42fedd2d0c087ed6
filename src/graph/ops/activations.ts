/**
 * @file Activations whose gradient is taken from their input: gelu, swish, softplus, leaky relu, prelu.
 *
 * relu, sigmoid and tanh, whose gradient needs only the output, are in layers.ts.
 */
import { misfit, type OpDef, type Tensor } from '../graph.js';
import { perColumn, rowsOfFloats } from './checks.js';
import { sumRows } from './layers.js';
import { mul } from './math.js';

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

export interface GeluOptions {
  /** The tanh form, which is cheaper; the exact one is x * Phi(x). */
  readonly approximate?: boolean;
}

/** x times the standard normal distribution at x. */
export function gelu(x: Tensor, options: GeluOptions = {}, name = 'Gelu'): Tensor {
  const kind = options.approximate ? 'geluTanh' : 'gelu';
  return x.graph.add(SmoothActivation, [x], { kind }, name).output;
}

/** x * sigmoid(x), also called silu. */
export const swish = (x: Tensor, name = 'Swish'): Tensor =>
  x.graph.add(SmoothActivation, [x], { kind: 'swish' }, name).output;
export const silu = swish;

/** log(1 + exp(x)). */
export const softplus = (x: Tensor, name = 'Softplus'): Tensor =>
  x.graph.add(SmoothActivation, [x], { kind: 'softplus' }, name).output;

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

/** x above zero, slope * x below it. */
export function leakyRelu(x: Tensor, slope = 0.2, name?: string): Tensor {
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
export function prelu(x: Tensor, slope: Tensor, name?: string): Tensor {
  return x.graph.add(Prelu, [x, slope], null, name).output;
}

export const ScaleColumns: OpDef<null> = {
  type: 'ScaleColumns',
  infer: ([x, factors]) => {
    perColumn('ScaleColumns', rowsOfFloats('ScaleColumns', x!), factors!, 'factor');
    return [x!.spec];
  },
  gradient: (op, [grad]) => {
    const [x, factors] = op.inputs as [Tensor, Tensor];
    return [grad && scaleColumns(grad, factors), grad && sumRows(mul(grad, x))];
  },
};

/** Each column of `x` times its factor. */
export function scaleColumns(x: Tensor, factors: Tensor, name?: string): Tensor {
  return x.graph.add(ScaleColumns, [x, factors], null, name).output;
}
