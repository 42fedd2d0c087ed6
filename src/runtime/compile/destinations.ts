/**
 * @file Decides which tensors are written straight into the buffer of a consumer.
 *
 * Terms of a sum accumulate into the sum, parts of an assembled matrix are written as its columns, and columns of a
 * lookup or of a product are made where they are wanted: each saves a pass over the data. The decision needs the whole
 * program, so it is made before lowering.
 */
import type { Op, OpDef, Tensor } from '../../graph/graph.js';
import { AssembleColumns, type AssembleColumnsAttrs, Columns, type ColumnsAttrs } from '../../graph/ops/columns.js';
import { AddN } from '../../graph/ops/elementwise.js';
import { Reshape } from '../../graph/ops/shape.js';
import { accumulates, isStrided, traitsOf } from './lowering-traits.js';

export interface Place {
  readonly into: Tensor;
  readonly column: number;
}

function isOp<A>(op: Op, def: OpDef<A>): op is Op<A> & Op {
  return op.def === (def as OpDef<unknown>);
}

export class Destinations {
  readonly #places = new Map<Tensor, Place>();
  readonly #sums = new Map<Tensor, Tensor>();
  readonly #parts = new Map<Tensor, readonly Op<ColumnsAttrs>[]>();
  readonly #loose = new Set<Tensor>();
  readonly #users = new Map<Tensor, Op[]>();
  readonly #fetched: ReadonlySet<Tensor>;

  constructor(ops: readonly Op[], fetched: ReadonlySet<Tensor>) {
    this.#fetched = fetched;
    for (const op of ops) {
      for (const input of op.inputs) {
        const users = this.#users.get(input);
        if (users === undefined) this.#users.set(input, [op]);
        else users.push(op);
      }
    }
    for (const op of ops) this.#spread(op);
    for (const op of ops) if (isOp(op, AssembleColumns)) this.#loosen(op);
    for (const op of ops) {
      if (isOp(op, AddN)) this.#placeTerms(op);
      if (isOp(op, AssembleColumns) && !this.#loose.has(op.output)) this.#placeParts(op);
    }
  }

  #usersOf(tensor: Tensor): readonly Op[] {
    return this.#users.get(tensor) ?? [];
  }

  /** An op whose rows are only used by columns writes those. */
  #spread(op: Op): void {
    const { spreads } = traitsOf(op);
    const { output } = op;
    if (spreads === undefined || output === undefined || !output.perExample || this.#fetched.has(output)) return;
    const users = this.#usersOf(output);
    const parts = users.filter((user): user is Op<ColumnsAttrs> & Op => isOp(user, Columns));
    if (parts.length === 0 || parts.length < users.length || !spreads(op, parts)) return;
    this.#parts.set(output, parts);
  }

  /** A matrix is not put together when its only user takes it in parts. */
  #loosen(op: Op<AssembleColumnsAttrs>): void {
    const [user, ...others] = this.#usersOf(op.output);
    if (user === undefined || others.length > 0 || this.#fetched.has(op.output)) return;
    if (traitsOf(user).takesParts?.(user, user.inputs.indexOf(op.output))) this.#loose.add(op.output);
  }

  /** The op that writes a tensor: for columns that are made apart, the one that makes them. */
  #writer(tensor: Tensor): Op {
    const { op } = tensor;
    return isOp(op, Columns) && this.#parts.has(op.inputs[0]!) ? op.inputs[0]!.op : op;
  }

  /** The tensor and what it is a view of by change of shape, down to the one that is computed. */
  #viewsOf(tensor: Tensor): Tensor[] {
    const views = [tensor];
    for (let next = tensor; isOp(next.op, Reshape); ) {
      next = next.op.inputs[0]!;
      views.push(next);
    }
    return views;
  }

  /** Whether a tensor may lie in a place that a consumer has for it. `alone`: nobody else may read it. */
  #isMovable(tensor: Tensor, alone: boolean): boolean {
    return tensor.perExample && !this.#fetched.has(tensor) && !(alone && this.#usersOf(tensor).length !== 1);
  }

  #placeTerms(op: Op): void {
    for (const term of op.inputs) {
      const views = this.#viewsOf(term);
      const made = views.at(-1)!;
      // A term that somebody else reads must stay apart from the sum.
      if (!accumulates(this.#writer(made)) || !views.every((view) => this.#isMovable(view, true))) continue;
      for (const view of views) this.#places.set(view, { into: op.output, column: 0 });
      this.#sums.set(made, op.output);
    }
  }

  #placeParts(op: Op<AssembleColumnsAttrs>): void {
    const parts = op.inputs.map((tensor, index) => ({ tensor, start: op.attrs.starts[index]! }));
    const overlaps = (a: (typeof parts)[number]) =>
      parts.some((b) => a !== b && a.start < b.start + b.tensor.columns && b.start < a.start + a.tensor.columns);
    for (const part of parts) {
      const views = this.#viewsOf(part.tensor);
      const made = views.at(-1)!;
      // Others may read a part too: they find it as columns of the matrix, which nobody writes again.
      if (overlaps(part) || !views.every((view) => this.#isMovable(view, views.length > 1))) continue;
      if (!(isStrided(this.#writer(made)) || isOp(made.op, AddN)) || this.#places.has(made)) continue;
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

  /** The columns that the op of `tensor` writes instead of the tensor. */
  partsOf(tensor: Tensor): readonly Op<ColumnsAttrs>[] | undefined {
    return this.#parts.get(tensor);
  }

  /** The op that alone uses a tensor; undefined when there are others, or somebody fetches it. */
  onlyUserOf(tensor: Tensor): Op | undefined {
    const [user, ...others] = this.#usersOf(tensor);
    return others.length > 0 || this.#fetched.has(tensor) ? undefined : user;
  }

  /** The ops that use a tensor; undefined when somebody fetches it. */
  usersOf(tensor: Tensor): readonly Op[] | undefined {
    return this.#fetched.has(tensor) ? undefined : this.#usersOf(tensor);
  }

  isLoose(tensor: Tensor): boolean {
    return this.#loose.has(tensor);
  }
}
