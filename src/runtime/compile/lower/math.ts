/** @file Lowerings of sums, products, columns and reductions. */

import { misfit, type Op } from '../../../graph/graph.js';
import { AssembleColumns, Columns } from '../../../graph/ops/columns.js';
import { AddN, Mul, Scale, Sub } from '../../../graph/ops/elementwise.js';
import { BroadcastMean, ReduceMean } from '../../../graph/ops/reductions.js';
import { RowDot, ScaleRows } from '../../../graph/ops/rows.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, operands, pairwise, registerLowering } from '../lowering.js';

registerLowering(AddN, (op, context) => {
  const sum = context.matrixOf(context.allocate(op.output));
  const columns = context.slice.constant(sum.columns);
  for (const term of op.inputs) {
    if (context.isPlaced(term, op.output)) continue;
    const accumulate = context.slice.constant(context.startSum(op.output) ? 1 : 0);
    const matrices = operands(context.matrix(term), sum);
    context.emit(KERNEL.copyRowsF32, [...matrices, context.rowsOf(op.output), columns, accumulate]);
  }
});

registerLowering(Sub, pairwise(KERNEL.subF32), { accumulates: true });
registerLowering(Mul, pairwise(KERNEL.mulF32), { accumulates: true });
registerLowering(RowDot, pairwise(KERNEL.rowDotF32), { accumulates: true });
registerLowering(ScaleRows, pairwise(KERNEL.scaleRowsF32), { accumulates: true });

registerLowering(
  Scale,
  (op, context) => {
    const out = context.output(op.output);
    context.emit(KERNEL.scaleF32, [
      ...operands(context.matrix(op.inputs[0]!), out),
      context.rowsOf(op.output),
      context.slice.constant(out.columns),
      context.slice.constantF32(op.attrs.factor),
      out.accumulate,
    ]);
  },
  { accumulates: true },
);

registerLowering(
  Columns,
  (op, context) => {
    // The op that makes the rows has written these columns where they are wanted.
    if (context.partsOf(op.inputs[0]!) !== undefined) return;
    const storage = context.storage(op.inputs[0]!);
    const { start, end } = op.attrs;
    if (storage.kind === 'slice') {
      context.setStorage(op.output, { ...storage, base: storage.base + start * 4, columns: end - start });
    } else if (storage.kind === 'feed') {
      const offset = storage.offset + start * (op.output.spec.dtype === 'int64' ? 8 : 4);
      context.setStorage(op.output, { ...storage, offset, columns: end - start });
    } else throw misfit(op, 'only per-example tensors have columns');
  },
  { phase: { runs: 'nothing' } },
);

registerLowering(
  AssembleColumns,
  (op, context) => {
    if (context.isLoose(op.output)) return;
    const out = context.matrixOf(context.allocate(op.output));
    const parts = op.inputs.map((tensor, index) => ({ tensor, start: op.attrs.starts[index]! }));
    const loose = parts.filter((part) => !context.isPlaced(part.tensor, op.output, part.start));
    for (const [start, end] of gaps(
      parts.map((p) => [p.start, p.start + p.tensor.columns]),
      op.attrs.width,
    )) {
      zeroColumns(op as Op, context, start, end);
    }
    const seen: [number, number][] = parts
      .filter((p) => !loose.includes(p))
      .map((p) => [p.start, p.start + p.tensor.columns]);
    for (const { tensor, start } of loose) {
      const end = start + tensor.columns;
      // A part that meets columns written before is added; one that covers them only in part needs the rest cleared first.
      const meets = seen.some(([a, b]) => a < end && start < b);
      if (meets) for (const [a, b] of gaps(seen, op.attrs.width, start, end)) zeroColumns(op as Op, context, a, b);
      const from = context.matrix(tensor);
      const to = columnsOf(op as Op, context, start, end);
      context.emit(KERNEL.copyRowsF32, [
        from.pointer,
        from.stride,
        to.pointer,
        out.stride,
        context.rows,
        context.slice.constant(end - start),
        context.slice.constant(meets ? 1 : 0),
      ]);
      seen.push([start, end]);
    }
  },
  { strided: true },
);

function columnsOf(op: Op, context: LoweringContext, start: number, end: number) {
  const storage = context.allocate(op.output);
  if (storage.kind !== 'slice') throw new Error('an assembled matrix has a buffer of its own');
  return context.matrixOf({ ...storage, base: storage.base + start * 4, columns: end - start });
}

function zeroColumns(op: Op, context: LoweringContext, start: number, end: number): void {
  const to = columnsOf(op, context, start, end);
  context.emit(KERNEL.zeroRowsF32, [to.pointer, to.stride, context.rows, context.slice.constant(end - start)]);
}

/** The parts of [from, to) that no range covers. */
function gaps(ranges: readonly (readonly [number, number])[], width: number, from = 0, to = width): [number, number][] {
  const found: [number, number][] = [];
  let at = from;
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (end <= at) continue;
    if (start >= to) break;
    if (start > at) found.push([at, start]);
    at = end;
  }
  if (at < to) found.push([at, to]);
  return found;
}

registerLowering(ReduceMean, (op, context) => {
  const x = context.matrix(op.inputs[0]!);
  const mean = context.matrixOf(context.allocate(op.output));
  const columns = context.slice.constant(x.columns);
  context.emit(KERNEL.sumF32, [x.pointer, x.stride, context.rows, columns, mean.pointer, context.inverseBatch]);
  if (x.columns > 1) scaleScalar(context, mean.pointer, mean.pointer, 1 / x.columns);
});

/** to[0] = factor * from[0]. */
function scaleScalar(context: LoweringContext, from: Register, to: Register, factor: number): void {
  const { slice } = context;
  const one = slice.constant(1);
  context.emit(KERNEL.scaleF32, [from, one, to, one, one, one, slice.constantF32(factor), slice.constant(0)]);
}

registerLowering(
  BroadcastMean,
  (op, context) => {
    const out = context.output(op.output);
    let grad = context.pointer(op.inputs[0]!);
    if (out.columns > 1) {
      const share = context.perSlice(4, 'share of a column').pointer;
      scaleScalar(context, grad, share, 1 / out.columns);
      grad = share;
    }
    context.emit(KERNEL.broadcastScalarF32, [
      grad,
      out.pointer,
      out.stride,
      context.rows,
      context.slice.constant(out.columns),
      context.inverseBatch,
      out.accumulate,
    ]);
  },
  { accumulates: true },
);
