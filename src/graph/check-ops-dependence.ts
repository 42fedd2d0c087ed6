/** @file Which ops an op needs, and a check that some ops do not need others (utils.check_ops_dependence). */
import { MonolithError } from '../base/errors.js';
import { toList } from '../base/lists.js';
import { type Graph, type Op, Tensor } from './graph.js';

/**
 * What ops need to run: themselves, their inputs and what they were asked to run after, all the way down. `inputsOf`
 * leaves out inputs that are not used.
 */
export function neededOps(
  roots: readonly (Op | Tensor)[],
  inputsOf: (op: Op) => readonly Tensor[] = ({ inputs }) => inputs,
): Set<Op> {
  const needed = new Set<Op>();
  const open = roots.map((root) => (root instanceof Tensor ? root.op : root));
  for (let op = open.pop(); op !== undefined; op = open.pop()) {
    if (needed.has(op)) continue;
    needed.add(op);
    open.push(...inputsOf(op).map((input) => input.op), ...op.controlInputs);
  }
  return needed;
}

/**
 * Fails with ML_OPS_DEPENDENCE when an op of the first names needs one of the second, by its inputs or by control
 * edges: what runs both of them apart would run the second twice.
 *
 * ```ts
 * checkOpsDependence(graph, enqueue.name, dummy.name);
 * ```
 */
export function checkOpsDependence(
  graph: Graph,
  opNames1: string | readonly string[],
  opNames2: string | readonly string[],
): void {
  const [first, second] = [opNames1, opNames2].map((names) => toList(names).map((name) => graph.op(name)));
  const needed = neededOps(first!);
  const twice = second!.filter((op) => needed.has(op)).map(({ name }) => name);
  if (twice.length === 0) return;
  const ops = first!.map(({ name }) => name).join(', ');
  throw new MonolithError('ML_OPS_DEPENDENCE', { ops, needed: twice.join(', ') });
}
