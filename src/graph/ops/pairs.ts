/**
 * @file Products of pairs of fields: factorization machines, field-aware ones (ffm_ops), and the interaction of
 * xDeepFM.
 */

import { checkOptions } from '../../base/check-options.js';
import { misfit, type OpDef, shapeText, type Tensor, type TensorSpec } from '../graph.js';
import { batchMatMul } from './batch-matmul.js';
import { innerShape } from './inner-shape.js';
import { nameOf, type OpOptions } from './options.js';
import { reshape } from './shape.js';

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

export interface FmOptions extends OpOptions {
  /** Floats of a field. Default: the last size of a tensor of fields. */
  readonly dim?: number | undefined;
}

/**
 * Sum of the dot products of all pairs of fields of an example, as 0.5 * ((sum v)^2 - sum v^2): `[batch]`. `x` is
 * `[batch, fields, dim]`, or `[batch, fields * dim]` when `dim` is given.
 *
 * ```ts
 * const second = fmPairs(concatColumns(embeddings), { dim: 16 }); // 26 fields of 16
 * ```
 */
export function fmPairs(x: Tensor, options: FmOptions = {}): Tensor {
  const { dim, name } = checkOptions('fmPairs', options, ['dim', 'name']);
  const { shape } = x.spec;
  const width = dim ?? (shape.length === 3 ? (shape[2] as number) : 0);
  if (!Number.isInteger(width) || width < 1 || x.columns % width !== 0) {
    throw misfit(name ?? 'FmPairs', `the rows of ${shapeText(shape)} are no whole number of fields of ${width}`);
  }
  return x.graph.add(FmPairs, [x], { fields: x.columns / width, dim: width }, name).output;
}

export interface PairAttrs {
  readonly lefts: number;
  readonly rights: number;
  readonly dim: number;
}

export const PairProducts: OpDef<PairAttrs> = {
  type: 'PairProducts',
  infer: (_, { lefts, rights, dim }) => [{ dtype: 'float32', shape: ['batch', lefts * rights * dim] }],
  gradient: (op, [grad]) => {
    const [left, right] = op.inputs as [Tensor, Tensor];
    const side = (x: Tensor, other: Tensor, of: 'left' | 'right') =>
      grad && op.graph.add(PairProductsGrad, [grad, other, x], { ...op.attrs, of }).output;
    return [side(left, right, 'left'), side(right, left, 'right')];
  },
};

/** Inputs: gradient of the products, the other side, this side (for its shape only). */
export const PairProductsGrad: OpDef<PairAttrs & { readonly of: 'left' | 'right' }> = {
  type: 'PairProductsGrad',
  infer: ([, , x]) => [x!.spec],
};

export type FfmKind = 'multiply' | 'dot';

export interface FfmOptions extends OpOptions {
  /** Floats of a field. */
  readonly dim: number;
  /** Default: `multiply`. */
  readonly kind?: FfmKind;
}

/**
 * All pairs of a left and a right field of `dim` floats; pair l * R + r. `multiply` gives `[batch, L * R * dim]`, `dot`
 * sums over the field: `[batch, L * R]`. Mirrors ffm_ops.
 *
 * ```ts
 * const pairs = ffm(users, items, { dim: 16, kind: 'dot' }); // [batch, 3 * 16] x [batch, 2 * 16] → [batch, 6]
 * ```
 */
export function ffm(left: Tensor, right: Tensor, options: FfmOptions): Tensor {
  const { dim, kind = 'multiply', name = 'FFM' } = checkOptions('ffm', options, ['dim', 'kind', 'name']);
  for (const side of [left, right]) {
    innerShape(name, side);
    if (!Number.isInteger(dim) || dim < 1 || side.columns % dim !== 0) {
      throw misfit(name, `the rows of ${shapeText(side.spec.shape)} are no whole number of fields of ${dim}`);
    }
  }
  const [lefts, rights] = [left.columns / dim, right.columns / dim];
  switch (kind) {
    case 'dot': {
      const [a, b] = [reshape(left, [lefts, dim]), reshape(right, [rights, dim])];
      return reshape(batchMatMul(a, b, { transposeB: true, name }), [lefts * rights]);
    }
    case 'multiply':
      return left.graph.add(PairProducts, [left, right], { lefts, rights, dim }, name).output;
    default:
      throw misfit(name, `${kind satisfies never} is neither multiply nor dot`);
  }
}

export interface CinAttrs extends PairAttrs {
  readonly outs: number;
}

/** Inputs: left, right, w. */
export const Cin: OpDef<CinAttrs> = {
  type: 'Cin',
  infer: (_, { outs, dim }) => [{ dtype: 'float32', shape: ['batch', outs, dim] }],
  gradient: (op, [grad]) => (grad ? op.graph.add(CinGrad, [grad, ...op.inputs], op.attrs).outputs : []),
};

/** Inputs: gradient, left, right, w. Outputs: gradients of left, right and w. */
export const CinGrad: OpDef<CinAttrs> = {
  type: 'CinGrad',
  infer: ([, left, right, w]): readonly TensorSpec[] => [left!.spec, right!.spec, { ...w!.spec, partial: true }],
};

/**
 * One layer of a compressed interaction network: output o is the sum of all products of a left and a right field,
 * elementwise, with weights w[l * R + r, o]. `[batch, L, dim]`, `[batch, R, dim]`, `[L * R, outs]` →
 * `[batch, outs, dim]`.
 */
export function cin(left: Tensor, right: Tensor, w: Tensor, options: OpOptions = {}): Tensor {
  const name = nameOf('cin', options, 'Cin');
  const [a, b, shape] = [innerShape(name, left), innerShape(name, right), w.spec.shape];
  const isShared = !w.perExample && w.spec.dtype === 'float32' && !w.spec.partial && shape.length === 2;
  if (a.length !== 2 || b.length !== 2 || a[1] !== b[1] || !isShared || shape[0] !== a[0]! * b[0]!) {
    const shapes = [left, right, w].map(({ spec }) => shapeText(spec.shape));
    throw misfit(name, `${shapes.join(', ')} do not fit together`);
  }
  const attrs = { lefts: a[0]!, rights: b[0]!, dim: a[1]!, outs: shape[1] as number };
  return left.graph.add(Cin, [left, right, w], attrs, name).output;
}
