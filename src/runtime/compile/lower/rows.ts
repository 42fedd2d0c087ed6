/** @file Lowerings of products of rows, factors and biases of rows and columns, and sums over rows. */
import type { Op, OpDef, Tensor } from '../../../graph/graph.js';
import { Activation, type ActivationKind } from '../../../graph/ops/activations.js';
import { MatMul } from '../../../graph/ops/matmul.js';
import { AddBias, RowDot, ScaleColumns, ScaleRows, SumRows } from '../../../graph/ops/rows.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, registerLowering } from '../lowering.js';

/** Whether only a relu uses the sum: one walk then does both. */
export function isRectified(context: LoweringContext, { output }: Op<unknown>): boolean {
  const user = context.onlyUserOf(output);
  return user?.def === (Activation as OpDef<unknown>) && (user as Op<{ kind: ActivationKind }>).attrs.kind === 'relu';
}

/** Writes over a product that nobody else reads, rather than beside it. */
export function reuseProduct(context: LoweringContext, product: Tensor, output: Tensor): void {
  if (product.op.def === (MatMul as OpDef<unknown>)) context.writeOver(product, output);
}

registerLowering(
  RowDot,
  (op, context) => {
    const [a, b] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const out = context.output(op.output);
    const size = { rows: context.rowsOf(op.output), cols: context.slice.constant(Math.max(a.columns, b.columns)) };
    context.emit(KERNEL.rowDotF32, { a, b, out, ...size, acc: out.accumulate });
  },
  { accumulates: true },
);

registerLowering(
  ScaleRows,
  (op, context) => {
    const [scale, src] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const dst = context.output(op.output);
    context.emit(KERNEL.scaleRowsF32, { scale, src, dst, ...context.sizeOf(op.output), acc: dst.accumulate });
  },
  { accumulates: true },
);

registerLowering(
  ScaleColumns,
  (op, context) => {
    const [x, factor] = [context.matrix(op.inputs[0]!), context.pointer(op.inputs[1]!)];
    const dst = context.output(op.output);
    context.emit(KERNEL.scaleColumnsF32, { x, factor, dst, ...context.sizeOf(op.output), acc: dst.accumulate });
  },
  { accumulates: true },
);

registerLowering(
  AddBias,
  (op, context) => {
    if (isRectified(context, op)) return;
    const [x, bias] = [context.matrix(op.inputs[0]!), context.pointer(op.inputs[1]!)];
    context.emit(KERNEL.addBiasF32, { x, bias, dst: context.output(op.output), ...context.sizeOf(op.output) });
  },
  { strided: true },
);

registerLowering(SumRows, (op, context) => {
  const src = context.matrix(op.inputs[0]!);
  context.allocate(op.output);
  const { slice } = context;
  context.emit(KERNEL.sumRowsF32, {
    src,
    dst: context.pointer(op.output),
    rows: context.rows,
    cols: slice.constant(src.columns),
    acc: slice.constant(0),
  });
});
