/** @file Lowerings of columns of rows, and of rows put together of columns. */
import { misfit, type Op } from '../../../graph/graph.js';
import { AssembleColumns, Columns } from '../../../graph/ops/columns.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, registerLowering } from '../lowering.js';

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
    context.allocate(op.output);
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
      // A part that meets columns written before is added; one that covers them only in part needs the rest cleared
      // first.
      const meets = seen.some(([a, b]) => a < end && start < b);
      if (meets) for (const [a, b] of gaps(seen, op.attrs.width, start, end)) zeroColumns(op as Op, context, a, b);
      context.emit(KERNEL.copyRowsF32, {
        src: context.matrix(tensor),
        ...columnsOf(op as Op, context, start, end),
        acc: context.slice.constant(meets ? 1 : 0),
      });
      seen.push([start, end]);
    }
  },
  { strided: true },
);

/** Columns of the output, as the result of a kernel. */
function columnsOf(op: Op, context: LoweringContext, start: number, end: number) {
  const storage = context.allocate(op.output);
  if (storage.kind !== 'slice') throw new Error('an assembled matrix has a buffer of its own');
  const dst = context.matrixOf({ ...storage, base: storage.base + start * 4, columns: end - start });
  return { dst, rows: context.rows, cols: context.slice.constant(end - start) };
}

function zeroColumns(op: Op, context: LoweringContext, start: number, end: number): void {
  context.emit(KERNEL.zeroRowsF32, columnsOf(op, context, start, end));
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
