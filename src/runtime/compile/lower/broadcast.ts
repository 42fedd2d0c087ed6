/** @file Lowerings of values repeated to a shape, and of sums that undo it; matrices as elementwise ops see them. */
import type { Dim, Tensor } from '../../../graph/graph.js';
import { BroadcastTo, type Spread, SumTo, spreadOf } from '../../../graph/ops/broadcast.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, registerLowering } from '../lowering.js';
import type { SteppedRegisters } from '../registers.js';

/** Rows and columns of a tensor: those of the slice, or of a shared matrix, whose last dimension is its columns. */
function grid(context: LoweringContext, tensor: Tensor): { rows: Register; columns: number } {
  if (tensor.perExample) return { rows: context.rows, columns: tensor.columns };
  const columns = lastOf(tensor.spec.shape);
  return { rows: context.slice.constant(tensor.columns / columns), columns };
}

const lastOf = (shape: readonly Dim[]) => (shape.at(-1) ?? 1) as number;

/** A tensor that is repeated to `shape`. */
export function repeated(context: LoweringContext, tensor: Tensor, shape: readonly Dim[]): SteppedRegisters {
  const { slice } = context;
  const { pointer, stride } = context.matrix(tensor);
  const spread = spreadOf(shape, tensor.spec.shape)!;
  const rowStride = tensor.perExample ? stride : slice.constant(spread === 'columns' ? 1 : lastOf(shape));
  const strides: Record<Spread, [Register, number]> = {
    none: [rowStride, 1],
    rows: [slice.constant(0), 1],
    columns: [rowStride, 0],
    all: [slice.constant(0), 0],
  };
  const [across, step] = strides[spread];
  return { pointer, stride: across, step: slice.constant(step) };
}

/** The output of an op as a matrix of its rows and columns. */
export function target(context: LoweringContext, tensor: Tensor) {
  const { pointer, stride, accumulate } = context.output(tensor);
  const { rows, columns } = grid(context, tensor);
  const cols = context.slice.constant(columns);
  return { dst: { pointer, stride: tensor.perExample ? stride : cols }, size: { rows, cols }, accumulate };
}

registerLowering(
  BroadcastTo,
  (op, context) => {
    const src = repeated(context, op.inputs[0]!, op.attrs.shape);
    const { dst, size, accumulate } = target(context, op.output);
    const factor = op.attrs.perBatch ? context.inverseBatch : context.slice.constantF32(1);
    context.emit(KERNEL.broadcastF32, { src, dst, ...size, factor, acc: accumulate });
  },
  { accumulates: true },
);

registerLowering(SumTo, (op, context) => {
  const { slice } = context;
  const x = op.inputs[0]!;
  const { rows, columns } = grid(context, x);
  const { pointer, stride } = context.matrix(x);
  const cols = slice.constant(columns);
  const src = { pointer, stride: x.perExample ? stride : cols };
  const out = context.output(op.output);
  const [one, none] = [slice.constant(1), slice.constant(0)];
  const factor = op.attrs.perBatch ? context.inverseBatch : slice.constantF32(1);
  switch (spreadOf(x.spec.shape, op.attrs.shape)!) {
    case 'all':
      context.emit(KERNEL.sumF32, { src, rows, cols, dst: out.pointer, factor });
      return;
    case 'columns': {
      const sums = { pointer: out.pointer, stride: op.output.perExample ? out.stride : one };
      context.emit(KERNEL.sumColumnsF32, { src, rows, cols, out: sums, factor });
      return;
    }
    case 'rows': {
      context.emit(KERNEL.sumRowsF32, { src, dst: out.pointer, rows, cols, acc: none });
      if (!op.attrs.perBatch) return;
      const sums = { pointer: out.pointer, stride: cols };
      context.emit(KERNEL.scaleF32, { src: sums, dst: sums, rows: one, cols, factor, acc: none });
      return;
    }
    case 'none': {
      const dst = { pointer: out.pointer, stride: op.output.perExample ? out.stride : cols };
      context.emit(KERNEL.scaleF32, { src, dst, rows, cols, factor, acc: none });
      return;
    }
  }
});
