/** @file Whole numbers as floats: the global step, or ids and counts that are fed, for use in formulas. */
import { misfit, type OpDef, type Tensor, type TensorSpec } from '../graph.js';

export const Cast: OpDef<null> = {
  type: 'Cast',
  infer: ([x]) => {
    const { dtype, shape, ragged } = x!.spec;
    if (dtype !== 'int64') throw misfit('Cast', `${x!.name} holds ${dtype}`);
    if (ragged) throw misfit('Cast', `${x!.name} is ragged: only a lookup takes it`);
    return [{ dtype: 'float32', shape } satisfies TensorSpec];
  },
  gradient: () => [undefined],
};

/**
 * `x` as float32: int64 is rounded to the nearest float, floats stay as they are. Passes no gradient on to whole numbers.
 *
 * ```ts
 * const warm = minimum(div(cast(globalStep(graph), 'float32'), 1000), 1);
 * ```
 */
export function cast(x: Tensor, dtype: 'float32', name?: string): Tensor {
  if (dtype !== 'float32') throw misfit(name ?? 'Cast', `a graph computes with float32, not with ${String(dtype)}`);
  return x.spec.dtype === 'float32' ? x : x.graph.add(Cast, [x], null, name).output;
}
