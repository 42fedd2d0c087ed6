/**
 * @file Factorization machines over the embeddings of fields: plain (FM) and field-aware (FFM). They have no variables.
 */

import { misfit, shapeText, type Tensor } from '../graph/graph.js';
import { innerShape } from '../graph/ops/inner-shape.js';
import { nameOf, type OpOptions } from '../graph/ops/options.js';
import { fmPairs } from '../graph/ops/pairs.js';
import { gatherInner } from '../graph/ops/positions.js';
import { rowDot } from '../graph/ops/rows.js';
import { reshape, stack } from '../graph/ops/shape.js';

/**
 * Sum of the dot products of all pairs of fields, `[batch]`: the second-order term of FM and DeepFM. `fields` is a list
 * of `[batch, d]`, or `[batch, n, d]`.
 */
export function fm(fields: Tensor | readonly Tensor[], options: OpOptions = {}): Tensor {
  const name = nameOf('fm', options, 'fm');
  const x = Array.isArray(fields) ? stack(fields as readonly Tensor[], { name: `${name}/fields` }) : (fields as Tensor);
  if (innerShape(name, x).length !== 2) throw misfit(name, `${shapeText(x.spec.shape)} is no list of fields`);
  return fmPairs(x, { name });
}

/**
 * Sum over pairs i < j of the dot product of what field i has for j and what field j has for i, `[batch]`. `x` is
 * `[batch, n, n, d]`: x[i, j] is the embedding of field i towards field j. The products of two sides are the op `ffm`.
 */
export function fieldAwareFm(x: Tensor, options: OpOptions = {}): Tensor {
  const name = nameOf('fieldAwareFm', options, 'ffm');
  const [n, others, d] = innerShape(name, x);
  if (n === undefined || n !== others || d === undefined || n < 2) {
    throw misfit(name, `${shapeText(x.spec.shape)} has no embedding of every field for every other`);
  }
  const pairs = Array.from({ length: n }, (_, i) =>
    Array.from({ length: n - 1 - i }, (_, k) => [i, i + 1 + k] as const),
  );
  const rows = reshape(x, [n * n, d]);
  const side = (at: (pair: readonly [number, number]) => number) => gatherInner(rows, pairs.flat().map(at));
  return rowDot(
    side(([i, j]) => i * n + j),
    side(([i, j]) => j * n + i),
    { name },
  );
}
