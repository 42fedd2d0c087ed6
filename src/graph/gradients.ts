/**
 * @file Reverse-mode differentiation of a graph.
 *
 * Mirrors tf.gradients: the gradients of `ys` with respect to `xs`, seeded by `gradYs` (ones where none is given), as
 * new ops of the same graph under the scope `gradients/`. Contributions of several consumers are added by AddN.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { misfit, type Op, type OpDef, sameShape, type Tensor } from './graph.js';
import { asPartial } from './ops/batch-sum.js';
import { AssembleColumns, assembleColumns } from './ops/columns.js';
import { addN } from './ops/elementwise.js';
import type { OpOptions } from './ops/options.js';
import { onesLike } from './ops/reductions.js';

export interface GradientsOptions extends OpOptions {
  /** The gradients of `ys` to start from. Default: ones. */
  readonly gradYs?: readonly (Tensor | undefined)[] | undefined;
}

/** Gradient per x, `undefined` where no y depends on it. `name` is the scope of the new ops. Default: `gradients`. */
export function gradients(
  ys: readonly Tensor[],
  xs: readonly Tensor[],
  options: GradientsOptions = {},
): (Tensor | undefined)[] {
  const { gradYs, name = 'gradients' } = checkOptions('gradients', options, ['gradYs', 'name']);
  const graph = ys[0]?.graph;
  if (graph === undefined) return xs.map(() => undefined);
  if (gradYs !== undefined && gradYs.length !== ys.length) {
    throw misfit('gradients', `${gradYs.length} seeds for ${ys.length} tensors`);
  }
  return graph.nameScope(name, () => {
    const pending = new Map<Tensor, Tensor[]>();
    ys.forEach((y, index) => {
      const seed = gradYs?.[index] ?? onesLike(y);
      if (!sameShape(seed.spec.shape, y.spec.shape)) throw misfit(y, 'its seed gradient has another shape');
      push(pending, y, seed);
    });
    const ops = opsBelow(ys);
    const wanted = dependentsOf(xs, ops);
    for (const op of ops.reverse()) if (wanted.has(op)) backpropagate(op, pending);
    return xs.map((x) => total(pending, x));
  });
}

function backpropagate(op: Op, pending: Map<Tensor, Tensor[]>): void {
  const grads = op.outputs.map((output) => total(pending, output));
  if (grads.every((grad) => grad === undefined) || op.inputs.length === 0) return;
  const inputGrads = gradientsOf(op, grads);
  op.inputs.forEach((input, index) => {
    const grad = inputGrads[index];
    if (grad !== undefined) push(pending, input, grad);
  });
}

/** What fails is told as of `op`: the user's line that made it says more than the one that asked for gradients. */
function gradientsOf(op: Op, grads: readonly (Tensor | undefined)[]): readonly (Tensor | undefined)[] {
  if (op.def.gradient === undefined) throw misfit(op, `no gradient is defined for ${op.type}`);
  try {
    return op.def.gradient(op, grads);
  } catch (error) {
    if (!(error instanceof MonolithError) || error.code !== 'ML_GRAPH') throw error;
    const { name, place } = op;
    const reason = `its gradient cannot be made: ${String(error.fields.reason)}`;
    throw new MonolithError('ML_GRAPH', { op: name, reason, ...(place && { place }) }, { cause: error });
  }
}

/** The summed gradient of a tensor; the sum replaces its terms, so that it is made once. */
function total(pending: Map<Tensor, Tensor[]>, tensor: Tensor): Tensor | undefined {
  const terms = pending.get(tensor);
  if (terms === undefined) return undefined;
  if (terms.length === 1) return terms[0];
  const added = sum(tensor, terms);
  pending.set(tensor, [added]);
  return added;
}

/**
 * Sum of gradient terms. Columns of one tensor that were used apart are put together instead of added as wide zeros.
 */
function sum(tensor: Tensor, terms: readonly Tensor[]): Tensor {
  const parts: { start: number; grad: Tensor }[] = [];
  for (const { op } of terms) {
    if (op.def !== (AssembleColumns as OpDef<unknown>)) return addMixed(terms);
    const { starts } = (op as Op<{ readonly starts: readonly number[] }>).attrs;
    for (const [index, grad] of op.inputs.entries()) parts.push({ start: starts[index]!, grad });
  }
  return assembleColumns(tensor, parts, `${tensor.op.name}_grad`);
}

/** A term per slice and one that is whole, such as that of a penalty on weights: the whole one becomes a part. */
function addMixed(terms: readonly Tensor[]): Tensor {
  return addN(terms.some((term) => term.spec.partial) ? terms.map((term) => asPartial(term)) : terms);
}

function push(pending: Map<Tensor, Tensor[]>, tensor: Tensor, grad: Tensor): void {
  const terms = pending.get(tensor);
  if (terms === undefined) pending.set(tensor, [grad]);
  else terms.push(grad);
}

/** Of `ops`, which come after their inputs, those that depend on some x: only these need a gradient. */
function dependentsOf(xs: readonly Tensor[], ops: readonly Op[]): Set<Op> {
  const targets = new Set(xs);
  const found = new Set<Op>();
  for (const op of ops) if (op.inputs.some((input) => targets.has(input) || found.has(input.op))) found.add(op);
  return found;
}

/**
 * Ops below `ys`, producers before consumers. By hand, not by recursion: a chain of ops may be longer than the stack.
 */
function opsBelow(ys: readonly Tensor[]): Op[] {
  const order: Op[] = [];
  const seen = new Set<Op>();
  const open: { readonly op: Op; next: number }[] = [];
  const enter = (op: Op) => {
    if (!seen.has(op)) open.push({ op, next: 0 });
    seen.add(op);
  };
  for (const y of ys) {
    enter(y.op);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const input = top.op.inputs[top.next++];
      if (input !== undefined) enter(input.op);
      else order.push(open.pop()!.op);
    }
  }
  return order;
}
