/** @file By how much a program moves the global step: what runs several steps at once must know it beforehand. */
import type { Op, OpDef } from '../../graph/graph.js';
import { AssignAddI64, GLOBAL_STEP, Increment } from '../../graph/ops/state.js';

/** Steps that one run of these ops counts; null when that is up to the batch. */
export function stepsCounted(ops: readonly Op[]): number | null {
  const ofStep = (op: Op, def: OpDef<never>, input: number) =>
    op.def === (def as OpDef<unknown>) && op.inputs[input]!.op.name === GLOBAL_STEP;
  if (ops.some((op) => ofStep(op, AssignAddI64 as OpDef<never>, 1))) return null;
  return ops
    .filter((op) => ofStep(op, Increment as OpDef<never>, 0))
    .reduce((sum, { attrs }) => sum + (attrs as { readonly by: number }).by, 0);
}
