/** @file Ranks and sizes of tensors, of a graph or with values (utils.get_ndim, utils.int_shape). */
import { RaggedTensor } from '../tensor/ragged-tensor.js';
import { Tensor as DenseTensor } from '../tensor/tensor.js';
import type { Tensor } from './graph.js';

type AnyTensor = Tensor | DenseTensor | RaggedTensor;

/** Number of dimensions. Rows of differing length are one dimension. */
export function getNdim(x: AnyTensor): number {
  return intShape(x).length;
}

/** Sizes of the dimensions, -1 for one that is not known or differs from row to row. */
export function intShape(x: AnyTensor): number[] {
  if (x instanceof DenseTensor) return [...x.shape];
  if (x instanceof RaggedTensor) return [x.rowCount, -1, ...intShape(x.values).slice(1)];
  const { shape, ragged } = x.spec;
  return [...shape.map((dim) => (dim === 'batch' ? -1 : dim)), ...(ragged ? [-1] : [])];
}
