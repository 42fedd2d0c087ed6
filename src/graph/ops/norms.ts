/** @file Norms within an example: layer norm and division by the length of the row. */
import { misfit, type OpDef, type Tensor } from '../graph.js';
import { perColumn, rowsOfFloats } from './checks.js';
import { sumRows } from './layers.js';

export interface NormAttrs {
  readonly epsilon: number;
}

function checkEpsilon(type: string, { epsilon }: NormAttrs): void {
  if (!(epsilon >= 0 && Number.isFinite(epsilon))) throw misfit(type, `epsilon ${epsilon} is not zero or above`);
}

/** The second output holds mean and 1 / sqrt(variance + epsilon) of each row, for the gradient. */
export const LayerNorm: OpDef<NormAttrs> = {
  type: 'LayerNorm',
  infer: ([x, gain, bias], attrs) => {
    rowsOfFloats('LayerNorm', x!);
    perColumn('LayerNorm', x!, gain!, 'gain');
    perColumn('LayerNorm', x!, bias!, 'bias');
    checkEpsilon('LayerNorm', attrs);
    return [x!.spec, { dtype: 'float32', shape: ['batch', 2] }];
  },
  gradient: (op, [grad]) => {
    const [x, gain] = op.inputs as [Tensor, Tensor];
    const stats = op.outputs[1]!;
    return [
      grad && op.graph.add(LayerNormGrad, [grad, x, gain, stats], null).output,
      grad && op.graph.add(LayerNormGainGrad, [grad, x, stats], null).output,
      grad && sumRows(grad),
    ];
  },
};

export const LayerNormGrad: OpDef<null> = { type: 'LayerNormGrad', infer: ([grad]) => [grad!.spec] };

export const LayerNormGainGrad: OpDef<null> = {
  type: 'LayerNormGainGrad',
  infer: ([grad]) => [{ dtype: 'float32', shape: [grad!.columns], partial: true }],
};

/** Each row less its mean, over its standard deviation, times `gain` plus `bias`; both have a value per column. */
export function layerNorm(
  x: Tensor,
  gain: Tensor,
  bias: Tensor,
  options: Partial<NormAttrs> = {},
  name?: string,
): Tensor {
  return x.graph.add(LayerNorm, [x, gain, bias], { epsilon: options.epsilon ?? 1e-3 }, name).output;
}

export const L2Normalize: OpDef<NormAttrs> = {
  type: 'L2Normalize',
  infer: ([x], attrs) => {
    checkEpsilon('L2Normalize', attrs);
    return [rowsOfFloats('L2Normalize', x!).spec];
  },
  gradient: (op, [grad]) => [grad && op.graph.add(L2NormalizeGrad, [grad, op.inputs[0]!], op.attrs).output],
};

export const L2NormalizeGrad: OpDef<NormAttrs> = { type: 'L2NormalizeGrad', infer: ([grad]) => [grad!.spec] };

/** Each row over its Euclidean length; a sum of squares below epsilon counts as epsilon. */
export function l2Normalize(x: Tensor, options: Partial<NormAttrs> = {}, name?: string): Tensor {
  return x.graph.add(L2Normalize, [x], { epsilon: options.epsilon ?? 1e-12 }, name).output;
}
