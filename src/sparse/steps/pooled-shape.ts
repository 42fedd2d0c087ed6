/** @file How lookups are pooled, and what shape that gives. */
import type { Dim } from '../../graph/graph.js';
import { checkWhole } from '../../graph/ops/inner-shape.js';

/** `firstN`: the rows of the first n ids, zeros where there are fewer. */
export type Pooling = 'sum' | 'mean' | { readonly firstN: number };

/** Shape of a lookup of rows of `dim` floats. */
export function pooledShape(pooling: Pooling, dim: number): readonly Dim[] {
  if (typeof pooling === 'object') return ['batch', checkWhole('EmbeddingLookup', 'firstN', pooling.firstN), dim];
  return dim === 1 ? ['batch'] : ['batch', dim];
}

/** Floats of a lookup per example. */
export function pooledColumns(pooling: Pooling, dim: number): number {
  return typeof pooling === 'object' ? pooling.firstN * dim : dim;
}
