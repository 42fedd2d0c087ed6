/**
 * @file The gradient of a pooled lookup, spread back to the ids that were pooled. Mirrors lookup_gradient of
 * native_training/hash_table_ops.
 */
import { check, matrixShape, refuse } from '../../tensor/ops/check.js';
import { Tensor } from '../../tensor/tensor.js';

export interface LookupGradient {
  readonly ids: Tensor<'int64'>;
  /** One row per id. */
  readonly grads: Tensor<'float32'>;
}

/**
 * Ids of a sparse tensor with the gradient of the row each was pooled into: `indices[i][0]` is that row.
 *
 * ```ts
 * const indices = Tensor.of('int64', [[0, 0], [0, 1], [1, 0]]);
 * const { grads } = lookupGradient(indices, Tensor.of('int64', [5, 6, 5]), Tensor.of('float32', [[1], [2]]));
 * grads.toArray(); // [[1], [1], [2]]
 * ```
 */
export function lookupGradient(
  indices: Tensor<'int64'>,
  ids: Tensor<'int64'>,
  grads: Tensor<'float32'>,
): LookupGradient {
  const op = 'lookupGradient';
  const [count, depth] = matrixShape(op, 'indices', indices);
  const [rows, dim] = matrixShape(op, 'grads', grads);
  check(depth >= 1, op, 'indices have no column');
  check(ids.size === count, op, `there are ${count} indices for ${ids.size} ids`);
  const out = new Float32Array(count * dim);
  for (let i = 0; i < count; i++) {
    const row = Number(indices.data[i * depth]);
    if (row < 0 || row >= rows) refuse(op, `row ${row} is not among ${rows}`);
    out.set(grads.data.subarray(row * dim, (row + 1) * dim), i * dim);
  }
  return { ids, grads: new Tensor('float32', [count, dim], out) };
}
