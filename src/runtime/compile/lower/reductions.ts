/** @file Lowerings of means, largest values and divisions over the batch. */
import {
  BatchMax,
  BroadcastMean,
  DivideByScalar,
  MaxColumns,
  ReduceMean,
  SliceMax,
} from '../../../graph/ops/reductions.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, registerLowering } from '../lowering.js';

registerLowering(ReduceMean, (op, context) => {
  const src = context.matrix(op.inputs[0]!);
  const dst = context.matrixOf(context.allocate(op.output)).pointer;
  const cols = context.slice.constant(src.columns);
  context.emit(KERNEL.sumF32, { src, rows: context.rows, cols, dst, factor: context.inverseBatch });
  if (src.columns > 1) scaleScalar(context, dst, dst, 1 / src.columns);
});

/** to[0] = factor * from[0]. */
function scaleScalar(context: LoweringContext, from: Register, to: Register, factor: number): void {
  const { slice } = context;
  const one = slice.constant(1);
  context.emit(KERNEL.scaleF32, {
    src: { pointer: from, stride: one },
    dst: { pointer: to, stride: one },
    rows: one,
    cols: one,
    factor: slice.constantF32(factor),
    acc: slice.constant(0),
  });
}

registerLowering(
  BroadcastMean,
  (op, context) => {
    const dst = context.output(op.output);
    let src = context.pointer(op.inputs[0]!);
    if (dst.columns > 1) {
      const share = context.perSlice(4, 'share of a column').pointer;
      scaleScalar(context, src, share, 1 / dst.columns);
      src = share;
    }
    context.emit(KERNEL.broadcastScalarF32, {
      src,
      dst,
      rows: context.rows,
      cols: context.slice.constant(dst.columns),
      factor: context.inverseBatch,
      acc: dst.accumulate,
    });
  },
  { accumulates: true },
);

registerLowering(
  DivideByScalar,
  (op, context) => {
    const [x, divisor] = [context.matrix(op.inputs[0]!), context.pointer(op.inputs[1]!)];
    const dst = context.output(op.output);
    context.emit(KERNEL.divideByScalarF32, { x, divisor, dst, ...context.sizeOf(op.output), acc: dst.accumulate });
  },
  { accumulates: true },
);

registerLowering(MaxColumns, (op, context) => {
  const [src, out] = [context.matrix(op.inputs[0]!), context.output(op.output)];
  context.emit(KERNEL.maxColumnsF32, { src, rows: context.rows, cols: context.slice.constant(src.columns), out });
});

registerLowering(SliceMax, (op, context) => {
  const src = context.matrix(op.inputs[0]!);
  const dst = context.output(op.output).pointer;
  context.emit(KERNEL.maxRowsF32, { src, dst, rows: context.rows, cols: context.slice.constant(src.columns) });
});

registerLowering(
  BatchMax,
  (op, context) => {
    const { slice, plan } = context;
    const parts = context.storage(op.inputs[0]!);
    if (parts.kind !== 'partial') throw new Error('the largest values of slices are per slice');
    context.emit(KERNEL.maxRowsF32, {
      src: { pointer: slice.constant(parts.base), stride: slice.constant(parts.sliceBytes / 4) },
      dst: context.output(op.output).pointer,
      rows: slice.constant(plan.slices),
      cols: slice.constant(parts.count),
    });
  },
  { phase: { runs: 'slices', crosses: true } },
);
