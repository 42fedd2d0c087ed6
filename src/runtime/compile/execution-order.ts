/** @file Which ops some fetches need, in an order in which they can run. */
import { neededOps } from '../../graph/check-ops-dependence.js';
import type { Op, OpDef, Tensor } from '../../graph/graph.js';
import { IfTraining } from '../../graph/ops/training.js';
import { trains } from './lowering-traits.js';

/**
 * Ops that `fetches` need, in the order they were made: inputs and control inputs exist before the op that names them, so
 * this is an order of execution, and it does not depend on the order of the fetches. Of an IfTraining only the input that
 * is used is needed.
 */
export function executionOrder(fetches: readonly (Tensor | Op)[]): Op[] {
  const used = trains([...neededOps(fetches)]) ? 0 : 1;
  const needed = neededOps(fetches, ({ def, inputs }) =>
    def === (IfTraining as OpDef<unknown>) ? [inputs[used]!] : inputs,
  );
  return fetches[0]?.graph.ops.filter((op) => needed.has(op)) ?? [];
}
