/** @file Which ops some fetches need in a mode, in an order in which they can run. */
import { neededOps } from '../../graph/check-ops-dependence.js';
import { misfit, type Op, type OpDef, type Tensor } from '../../graph/graph.js';
import type { Mode } from '../../graph/mode.js';
import { IfTraining } from '../../graph/ops/training.js';
import { traitsOf, updates } from './lowering-traits.js';

/** What a program of `fetches` runs for: what it was told, what its graph is for, or what it does. */
export function modeOf(fetches: readonly (Tensor | Op)[], told?: Mode): Mode {
  return told ?? fetches[0]?.graph.mode ?? (updates([...neededOps(fetches)]) ? 'train' : 'eval');
}

/**
 * Ops that `fetches` need, in the order they were made: inputs and control inputs exist before the op that names them,
 * so this is an order of execution, and it does not depend on the order of the fetches. Of an IfTraining only the input
 * that is used is needed. ML_GRAPH for steps of weights or rows in a mode that does not train.
 */
export function executionOrder(fetches: readonly (Tensor | Op)[], mode = modeOf(fetches)): Op[] {
  const used = mode === 'train' ? 0 : 1;
  const needed = neededOps(fetches, ({ def, inputs }) =>
    def === (IfTraining as OpDef<unknown>) ? [inputs[used]!] : inputs,
  );
  const ops = fetches[0]?.graph.ops.filter((op) => needed.has(op)) ?? [];
  const learning = mode === 'train' ? undefined : ops.find((op) => traitsOf(op).learns);
  if (learning === undefined) return ops;
  throw misfit(learning, `it changes the model, and mode ${mode} only reads it`, "build or run it in mode 'train'");
}
