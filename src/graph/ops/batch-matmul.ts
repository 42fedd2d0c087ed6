/**
 * @file Matrix products inside an example, and of all inner rows with a shared matrix.
 *
 * A product is described by strides, so that heads of attention and transposed operands are read and written in place.
 */

import { checkOptions } from '../../base/check-options.js';
import { elementCount, misfit, type OpDef, shapeText, type Tensor, type TensorSpec } from '../graph.js';
import { innerShape } from './inner-shape.js';
import type { MatMulOptions } from './matmul.js';
import { nameOf, type OpOptions } from './options.js';

/** Where a matrix of each group lies in a row: floats between groups, rows and columns. */
export interface MatrixLayout {
  readonly group: number;
  readonly row: number;
  readonly col: number;
}

export interface BatchMatMulAttrs {
  readonly groups: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: MatrixLayout;
  readonly b: MatrixLayout;
  /** Its columns are contiguous. */
  readonly c: MatrixLayout;
  readonly spec: TensorSpec;
}

export const swapped = ({ group, row, col }: MatrixLayout): MatrixLayout => ({ group, row: col, col: row });

export const BatchMatMul: OpDef<BatchMatMulAttrs> = {
  type: 'BatchMatMul',
  infer: (_, { spec }) => [spec],
  gradient: (op, [grad]) => {
    if (grad === undefined) return [undefined, undefined];
    const { groups, m, n, k, a, b, c } = op.attrs;
    const [x, y] = op.inputs as [Tensor, Tensor];
    // A gradient is written in the layout of its operand. Its columns must be contiguous: of an operand that is stored
    // transposed the transposed gradient is computed.
    const da: Omit<BatchMatMulAttrs, 'groups'> =
      a.col === 1
        ? { m, n: k, k: n, a: c, b: swapped(b), c: a, spec: x.spec }
        : { m: k, n: m, k: n, a: b, b: swapped(c), c: swapped(a), spec: x.spec };
    const db: Omit<BatchMatMulAttrs, 'groups'> =
      b.col === 1
        ? { m: k, n, k: m, a: swapped(a), b: c, c: b, spec: y.spec }
        : { m: n, n: k, k: m, a: swapped(c), b: a, c: swapped(b), spec: y.spec };
    const add = (left: Tensor, right: Tensor, attrs: Omit<BatchMatMulAttrs, 'groups'>) =>
      op.graph.add(BatchMatMul, [left, right], { groups, ...attrs }).output;
    return [a.col === 1 ? add(grad, y, da) : add(y, grad, da), b.col === 1 ? add(x, grad, db) : add(grad, x, db)];
  },
};

/**
 * Matrix product of each example: `[batch, m, k] x [batch, k, n] → [batch, m, n]`; further sizes before the last two
 * are groups and must be equal. The transposed forms read `[k, m]` and `[n, k]`.
 */
export function batchMatMul(a: Tensor, b: Tensor, options: MatMulOptions = {}): Tensor {
  const keys = ['transposeA', 'transposeB', 'name'] as const;
  const { transposeA, transposeB, name = 'BatchMatMul' } = checkOptions('batchMatMul', options, keys);
  const side = (tensor: Tensor, transpose = false) => {
    const sizes = innerShape(name, tensor);
    if (sizes.length < 2) throw misfit(name, `${shapeText(tensor.spec.shape)} is no matrix per example`);
    const [rows, cols] = sizes.slice(-2) as [number, number];
    const layout = { group: rows * cols, row: cols, col: 1 };
    const groups = sizes.slice(0, -2);
    return transpose ? { rows: cols, cols: rows, layout: swapped(layout), groups } : { rows, cols, layout, groups };
  };
  const [x, y] = [side(a, transposeA), side(b, transposeB)];
  if (x.cols !== y.rows || shapeText(x.groups) !== shapeText(y.groups)) {
    throw misfit(name, `${shapeText(a.spec.shape)} and ${shapeText(b.spec.shape)} do not fit together`);
  }
  const [m, n, k] = [x.rows, y.cols, x.cols];
  const spec: TensorSpec = { dtype: 'float32', shape: ['batch', ...x.groups, m, n] };
  const groups = elementCount(x.groups);
  const attrs = { groups, m, n, k, a: x.layout, b: y.layout, c: { group: m * n, row: n, col: 1 }, spec };
  return a.graph.add(BatchMatMul, [a, b], attrs, name).output;
}

/** Inputs: x, w. */
export const MatMulInner: OpDef<{ readonly transposeB: boolean }> = {
  type: 'MatMulInner',
  infer: ([x, w], { transposeB }) => {
    const sizes = innerShape('MatMulInner', x!);
    const { shape, dtype, partial } = w!.spec;
    const [rows, cols] = transposeB ? [shape[1], shape[0]] : [shape[0], shape[1]];
    const fits = shape.length === 2 && !w!.perExample && dtype === 'float32' && !partial && sizes.length > 1;
    if (!fits || sizes.at(-1) !== rows) {
      throw misfit('MatMulInner', `${shapeText(x!.spec.shape)} and ${shapeText(shape)} do not fit together`);
    }
    return [{ dtype: 'float32', shape: ['batch', ...sizes.slice(0, -1), cols!] }];
  },
  gradient: (op, [grad]) => {
    if (op.attrs.transposeB) throw misfit(op.name, 'no gradient is defined for a transposed product');
    const [x, w] = op.inputs as [Tensor, Tensor];
    return [
      grad && op.graph.add(MatMulInner, [grad, w], { transposeB: true }).output,
      grad && op.graph.add(MatMulInnerGrad, [x, grad], { like: w }).output,
    ];
  },
};

/** Gradient of the shared matrix, summed over the batch and all inner rows. Inputs: x, gradient of the product. */
export const MatMulInnerGrad: OpDef<{ readonly like: Tensor }> = {
  type: 'MatMulInnerGrad',
  infer: (_, { like }) => [{ ...like.spec, partial: true }],
};

/** All inner rows times one matrix: `[batch, n, d] x [d, k] → [batch, n, k]`. */
export function matMulInner(x: Tensor, w: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(MatMulInner, [x, w], { transposeB: false }, nameOf('matMulInner', options, 'MatMulInner')).output;
}
