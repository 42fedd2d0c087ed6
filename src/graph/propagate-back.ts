/** @file Carries gradients that are known already further back (utils). */
import { MonolithError } from '../base/errors.js';
import { gradients } from './gradients.js';
import type { Tensor } from './graph.js';

export type GradAndVar = readonly [grad: Tensor, variable: Tensor];

/**
 * Gradients of `xs` when the gradients of the tensors in `gradsAndVars` are known; `undefined` where none depends on
 * it. With `validVarSet`, a tensor that is not in it is refused.
 */
export function propagateBackGradients(
  gradsAndVars: Iterable<GradAndVar>,
  xs: Iterable<Tensor>,
  validVarSet?: ReadonlySet<Tensor>,
): (Tensor | undefined)[] {
  const pairs = [...gradsAndVars];
  for (const [, variable] of pairs) {
    if (validVarSet === undefined || validVarSet.size === 0 || validVarSet.has(variable)) continue;
    const valid = [...validVarSet].map(({ name }) => name).join(', ');
    throw new MonolithError('ML_GRADIENT_VARS', { variable: variable.name, valid });
  }
  return gradients(
    pairs.map(([, variable]) => variable),
    [...xs],
    { gradYs: pairs.map(([grad]) => grad) },
  );
}

/** The same for tensors with a key each: pairs of gradient and tensor by key, in the order of `xToKey`. */
export function propagateBackDictGradients<K>(
  gradsAndVars: Iterable<GradAndVar>,
  xToKey: ReadonlyMap<Tensor, K>,
  validVarSet?: ReadonlySet<Tensor>,
): Map<K, [dx: Tensor | undefined, x: Tensor][]> {
  const dxs = propagateBackGradients(gradsAndVars, xToKey.keys(), validVarSet);
  const grouped = new Map<K, [Tensor | undefined, Tensor][]>();
  let index = 0;
  for (const [x, key] of xToKey) {
    const pair: [Tensor | undefined, Tensor] = [dxs[index++], x];
    const group = grouped.get(key);
    if (group === undefined) grouped.set(key, [pair]);
    else group.push(pair);
  }
  return grouped;
}
