/** @file The second-order term of a factorization machine, with its gradient. */
import { misfit, type OpDef, shapeText, type Tensor } from '../graph.js';

/** How a row is cut: `fields` vectors of `dim` floats. */
export interface FmAttrs {
  readonly fields: number;
  readonly dim: number;
}

export const FmPairs: OpDef<FmAttrs> = {
  type: 'FmPairs',
  infer: ([x], { fields, dim }) => {
    if (x!.spec.dtype !== 'float32' || !x!.perExample || x!.columns !== fields * dim) {
      throw misfit('FmPairs', `${x!.name} of shape ${shapeText(x!.spec.shape)} is not ${fields} x ${dim} per example`);
    }
    return [{ dtype: 'float32', shape: ['batch'] }];
  },
  gradient: (op, [grad]) => [grad && op.graph.add(FmPairsGrad, [grad, op.inputs[0]!], op.attrs).output],
};

/** Inputs: gradient of the term, x. */
export const FmPairsGrad: OpDef<FmAttrs> = {
  type: 'FmPairsGrad',
  infer: ([, x]) => [x!.spec],
};

/**
 * Sum of the dot products of all pairs of fields of an example, as 0.5 * ((sum v)^2 - sum v^2): `[batch]`. `x` is
 * `[batch, fields, dim]`, or `[batch, fields * dim]` when `dim` is given.
 *
 * ```ts
 * const second = fmPairs(concatColumns(embeddings), 16); // 26 fields of 16
 * ```
 */
export function fmPairs(x: Tensor, dim?: number, name?: string): Tensor {
  const { shape } = x.spec;
  const width = dim ?? (shape.length === 3 ? (shape[2] as number) : 0);
  if (!Number.isInteger(width) || width < 1 || x.columns % width !== 0) {
    throw misfit(name ?? 'FmPairs', `the rows of ${shapeText(shape)} are no whole number of fields of ${width}`);
  }
  return x.graph.add(FmPairs, [x], { fields: x.columns / width, dim: width }, name).output;
}
