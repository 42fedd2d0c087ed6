/** @file Variables that are stepped by an optimizer of their own, whatever the others of the model are stepped by. */
import type { Tensor } from '../graph/graph.js';
import type { VariableOptimizer } from './apply-gradients.js';

const own = new WeakMap<Tensor, VariableOptimizer>();

/**
 * Gives a variable an optimizer of its own, which `applyGradientsWithVarOptimizer` steps it by; returns the variable.
 */
export function setVarOptimizer(target: Tensor, optimizer: VariableOptimizer): Tensor {
  own.set(target, optimizer);
  return target;
}

export function getVarOptimizer(target: Tensor): VariableOptimizer | undefined {
  return own.get(target);
}
