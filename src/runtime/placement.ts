/**
 * @file Decides which tensors are written straight into the buffer of their only consumer.
 *
 * Terms of a sum accumulate into the sum, and parts of an assembled matrix are written as its columns: both save a pass
 * over the data. The decision needs the whole program, so it is made before lowering.
 */
import type { Op, OpDef, Tensor } from '../graph/graph.js';
import { AddN, AssembleColumns } from '../graph/ops/math.js';
import { Reshape } from '../graph/ops/shape.js';
import { accumulates, isStrided } from './lowerings.js';

export interface Place {
  readonly into: Tensor;
  readonly column: number;
}

export class Placement {
  readonly #places = new Map<Tensor, Place>();
  readonly #sums = new Map<Tensor, Tensor>();

  constructor(ops: readonly Op[], fetched: ReadonlySet<Tensor>) {
    const uses = new Map<Tensor, number>();
    for (const op of ops) for (const input of op.inputs) uses.set(input, (uses.get(input) ?? 0) + 1);
    const movable = (tensor: Tensor) => tensor.perExample && uses.get(tensor) === 1 && !fetched.has(tensor);
    for (const op of ops) {
      if (op.def === (AddN as OpDef<unknown>)) this.#placeTerms(op, movable);
      if (op.def === (AssembleColumns as OpDef<unknown>)) {
        this.#placeParts(op as Op<{ readonly starts: readonly number[] }>, movable);
      }
    }
  }

  #placeTerms(op: Op, movable: (tensor: Tensor) => boolean): void {
    for (const term of op.inputs) {
      const views = viewsOf(term, movable);
      const made = views.at(-1);
      if (made === undefined || !accumulates(made.op.def)) continue;
      for (const view of views) this.#places.set(view, { into: op.output, column: 0 });
      this.#sums.set(made, op.output);
    }
  }

  #placeParts(op: Op<{ readonly starts: readonly number[] }>, movable: (tensor: Tensor) => boolean): void {
    const parts = op.inputs.map((tensor, index) => ({ tensor, start: op.attrs.starts[index]! }));
    const overlaps = (a: (typeof parts)[number]) =>
      parts.some((b) => a !== b && a.start < b.start + b.tensor.columns && b.start < a.start + a.tensor.columns);
    for (const part of parts) {
      const views = viewsOf(part.tensor, movable);
      const def = views.at(-1)?.op.def;
      if (def === undefined || overlaps(part) || !(isStrided(def) || def === (AddN as OpDef<unknown>))) continue;
      for (const view of views) this.#places.set(view, { into: op.output, column: part.start });
    }
  }

  of(tensor: Tensor): Place | undefined {
    return this.#places.get(tensor);
  }

  /** The sum this tensor is a placed term of. */
  sumOf(tensor: Tensor): Tensor | undefined {
    return this.#sums.get(tensor);
  }
}

/** The tensor and what it is a view of by change of shape, down to the one that is computed; none if one cannot move. */
function viewsOf(tensor: Tensor, movable: (tensor: Tensor) => boolean): Tensor[] {
  const views: Tensor[] = [];
  for (let next: Tensor | undefined = tensor; next !== undefined; ) {
    if (!movable(next)) return [];
    views.push(next);
    next = next.op.def === (Reshape as OpDef<unknown>) ? next.op.inputs[0] : undefined;
  }
  return views;
}
