/**
 * @file Which tensors repeat rows: those of a lookup of one id per example are equal wherever the id is.
 *
 * Ops that make such tensors say so, and products of matrices that are put together of them multiply each distinct row
 * once.
 */
import type { Op, OpDef, Tensor } from '../../graph/graph.js';
import { AssembleColumns, type AssembleColumnsAttrs, Columns, type ColumnsAttrs } from '../../graph/ops/columns.js';
import { AddN } from '../../graph/ops/elementwise.js';
import type { LoweringContext } from './lowering.js';
import { traitsOf } from './lowering-traits.js';

/** Ids that rows repeat with: a column of a block of them. Tensors with the same object have the same ids. */
export interface Repeats {
  /**
   * Addresses of numbers, order, starts and count of the column in a slice (see numberRepeatsU32), made on first use.
   */
  number(): (slice: number) => readonly [numbers: number, order: number, starts: number, count: number];
}

/** Columns of a matrix in which rows repeat. */
export interface RepeatedColumns {
  readonly column: number;
  readonly columns: number;
  readonly repeats: Repeats;
}

const KEY = {};

/** Says that rows of `tensor` are equal where its ids are. */
export function setRepeats(context: LoweringContext, tensor: Tensor, repeats: Repeats): void {
  known(context).set(tensor, repeats);
}

function known(context: LoweringContext): Map<Tensor, Repeats> {
  return context.shared(KEY, () => new Map());
}

function isOp<A>(op: Op, def: OpDef<A>): op is Op<A> & Op {
  return op.def === (def as OpDef<unknown>);
}

/** The columns of a matrix that repeat, by column; none where parts of it lie over each other. */
export function repeatedColumns(context: LoweringContext, matrix: Tensor): RepeatedColumns[] {
  const found: RepeatedColumns[] = [];
  let overlaps = false;
  const visit = (tensor: Tensor, column: number): void => {
    const repeats = known(context).get(tensor);
    if (repeats !== undefined) found.push({ column, columns: tensor.columns, repeats });
    else if (isOp(tensor.op, Columns)) {
      const source = known(context).get(tensor.op.inputs[0]!);
      if (source !== undefined) found.push({ column, columns: tensor.columns, repeats: source });
    } else if (isOp(tensor.op, AssembleColumns)) {
      const { starts } = tensor.op.attrs as AssembleColumnsAttrs;
      const parts = tensor.op.inputs.map((input, i) => ({ input, from: starts[i]!, to: starts[i]! + input.columns }));
      parts.sort((a, b) => a.from - b.from);
      overlaps ||= parts.some(({ to }, i) => to > (parts[i + 1]?.from ?? to));
      for (const { input, from } of parts) visit(input, column + from);
    }
  };
  visit(matrix, 0);
  return overlaps ? [] : found;
}

/** What columns of a tensor are used for: sums over rows with the same ids, or something else. */
interface Use {
  readonly from: number;
  readonly to: number;
  readonly repeats: Repeats | undefined;
}

/** Whether these columns of `tensor` are used in nothing but sums over rows with the same ids. */
export function addedUp(context: LoweringContext, tensor: Tensor): (columns: RepeatedColumns) => boolean {
  const uses: Use[] = [];
  collectUses(context, tensor, 0, 0, tensor.columns, uses);
  return ({ column, columns, repeats }) =>
    uses.every((use) => use.to <= column || use.from >= column + columns || use.repeats === repeats);
}

/** Uses of `tensor`, whose columns from..to are those from + shift..to + shift of the tensor that was asked for. */
function collectUses(
  context: LoweringContext,
  tensor: Tensor,
  shift: number,
  from: number,
  to: number,
  uses: Use[],
): void {
  const users = context.usersOf(tensor);
  if (users === undefined) uses.push({ from: from + shift, to: to + shift, repeats: undefined });
  for (const user of users ?? []) {
    user.inputs.forEach((input, index) => {
      if (input !== tensor) return;
      if (isOp(user, AddN)) collectUses(context, user.output, shift, from, to, uses);
      else if (isOp(user, AssembleColumns)) {
        const start = (user.attrs as AssembleColumnsAttrs).starts[index]!;
        collectUses(context, user.output, shift - start, from + start, to + start, uses);
      } else if (isOp(user, Columns)) {
        const { start } = user.attrs as ColumnsAttrs;
        const [first, end] = [Math.max(from, start), Math.min(to, start + user.output.columns)];
        if (first < end) collectUses(context, user.output, shift + start, first - start, end - start, uses);
      } else {
        const source = traitsOf(user).addsUp?.(user, index);
        const repeats = source === undefined ? undefined : known(context).get(source);
        uses.push({ from: from + shift, to: to + shift, repeats });
      }
    });
  }
}
