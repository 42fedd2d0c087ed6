/** @file What a graph knows of a tensor before it has values: its type and its shape. */
import { misfit } from './misfit.js';

/** A size known when the graph is built, or the number of examples of the batch, which may change per step. */
export type Dim = number | 'batch';

export interface TensorSpec {
  readonly dtype: 'float32' | 'int64';
  readonly shape: readonly Dim[];
  /** A ragged tensor has rows of differing length: int64 ids of a sparse feature. */
  readonly ragged?: boolean;
  /** The value is a sum over examples: every slice of the batch holds its part, and the parts are to be added. */
  readonly partial?: boolean;
}

export function elementCount(shape: readonly Dim[]): number {
  return shape.reduce<number>((count, dim) => {
    if (dim === 'batch') throw misfit('shape', 'the batch dimension must come first');
    return count * dim;
  }, 1);
}

export function sameShape(a: readonly Dim[], b: readonly Dim[]): boolean {
  return a.length === b.length && a.every((dim, index) => dim === b[index]);
}

/** `[batch, 16]` as text. */
export function shapeText(shape: readonly Dim[]): string {
  return `[${shape.join(', ')}]`;
}
