/** @file Ops that change what a tensor counts as: the end of gradients, whole numbers as floats. */
import { misfit, type OpDef, type Tensor, type TensorSpec } from '../graph.js';
import { nameOf, type OpOptions } from './options.js';

export const StopGradient: OpDef<null> = {
  type: 'StopGradient',
  infer: ([x]) => [x!.spec],
  gradient: () => [undefined],
};

/** `x`, which counts as a constant when gradients are taken. */
export function stopGradient(x: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(StopGradient, [x], null, nameOf('stopGradient', options)).output;
}

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
 * `x` as float32: int64 is rounded to the nearest float, floats stay as they are. Passes no gradient on to whole
 * numbers.
 *
 * ```ts
 * const warm = minimum(div(cast(globalStep(graph), 'float32'), 1000), 1);
 * ```
 */
export function cast(x: Tensor, dtype: 'float32', options: OpOptions = {}): Tensor {
  const name = nameOf('cast', options);
  if (dtype !== 'float32') throw misfit(name ?? 'Cast', `a graph computes with float32, not with ${String(dtype)}`);
  return x.spec.dtype === 'float32' ? x : x.graph.add(Cast, [x], null, name).output;
}
