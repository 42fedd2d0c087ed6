/** @file Lowerings of elementwise ops with broadcasting, reductions and their reverse. */
import type { Dim, Tensor } from '../../../graph/graph.js';
import { BroadcastTo, type Spread, SumTo, spreadOf } from '../../../graph/ops/broadcast.js';
import { Binary } from '../../../graph/ops/elementwise.js';
import { BatchMax, MaxColumns, SliceMax } from '../../../graph/ops/reductions.js';
import { StopGradient, Unary } from '../../../graph/ops/unary.js';
import { BINARY_KIND, UNARY_KIND } from '../../../memory/kinds.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, operands, registerLowering } from '../lowering.js';

/** Rows and columns of a tensor: those of the slice, or of a shared matrix, whose last dimension is its columns. */
function grid(context: LoweringContext, tensor: Tensor): { rows: Register; columns: number } {
  if (tensor.perExample) return { rows: context.rows, columns: tensor.columns };
  const columns = lastOf(tensor.spec.shape);
  return { rows: context.slice.constant(tensor.columns / columns), columns };
}

const lastOf = (shape: readonly Dim[]) => (shape.at(-1) ?? 1) as number;

/** Pointer, stride and step of a tensor that is repeated to `shape`. */
function repeated(context: LoweringContext, tensor: Tensor, shape: readonly Dim[]): [Register, Register, Register] {
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
  return [pointer, across, slice.constant(step)];
}

/** The output of an op as a matrix of its rows and columns. */
function target(context: LoweringContext, tensor: Tensor) {
  const out = context.output(tensor);
  const { rows, columns } = grid(context, tensor);
  const stride = tensor.perExample ? out.stride : context.slice.constant(columns);
  return { pointer: out.pointer, stride, accumulate: out.accumulate, rows, columns: context.slice.constant(columns) };
}

registerLowering(
  Binary,
  (op, context) => {
    const { shape } = op.output.spec;
    const sides = op.inputs.flatMap((input) => repeated(context, input, shape));
    const { pointer, stride, rows, columns } = target(context, op.output);
    const kind = context.slice.constant(BINARY_KIND[op.attrs.kind]);
    context.emit(KERNEL.binaryF32, [kind, ...sides, pointer, stride, rows, columns]);
  },
  { strided: true },
);

registerLowering(
  Unary,
  (op, context) => {
    const x = context.matrix(op.inputs[0]!);
    const out = context.output(op.output);
    const kind = context.slice.constant(UNARY_KIND[op.attrs.kind]);
    const size = [context.rowsOf(op.output), context.slice.constant(out.columns)];
    context.emit(KERNEL.unaryF32, [kind, ...operands(x, out), ...size]);
  },
  { strided: true },
);

registerLowering(
  StopGradient,
  (op, context) => {
    context.setStorage(op.output, context.storage(op.inputs[0]!));
  },
  { phase: { runs: 'nothing' } },
);

registerLowering(
  BroadcastTo,
  (op, context) => {
    const from = repeated(context, op.inputs[0]!, op.attrs.shape);
    const { pointer, stride, rows, columns, accumulate } = target(context, op.output);
    const factor = op.attrs.perBatch ? context.inverseBatch : context.slice.constantF32(1);
    context.emit(KERNEL.broadcastF32, [...from, pointer, stride, rows, columns, factor, accumulate]);
  },
  { accumulates: true },
);

registerLowering(SumTo, (op, context) => {
  const { slice } = context;
  const x = op.inputs[0]!;
  const { rows, columns } = grid(context, x);
  const matrix = context.matrix(x);
  const stride = x.perExample ? matrix.stride : slice.constant(columns);
  const out = context.output(op.output);
  const [width, one] = [slice.constant(columns), slice.constant(1)];
  const factor = op.attrs.perBatch ? context.inverseBatch : slice.constantF32(1);
  switch (spreadOf(x.spec.shape, op.attrs.shape)!) {
    case 'all':
      context.emit(KERNEL.sumF32, [matrix.pointer, stride, rows, width, out.pointer, factor]);
      return;
    case 'columns': {
      const outStride = op.output.perExample ? out.stride : one;
      context.emit(KERNEL.sumColumnsF32, [matrix.pointer, stride, rows, width, out.pointer, outStride, factor]);
      return;
    }
    case 'rows':
      context.emit(KERNEL.sumRowsF32, [matrix.pointer, stride, out.pointer, rows, width, slice.constant(0)]);
      if (!op.attrs.perBatch) return;
      context.emit(KERNEL.scaleF32, [out.pointer, width, out.pointer, width, one, width, factor, slice.constant(0)]);
      return;
    case 'none': {
      const outStride = op.output.perExample ? out.stride : width;
      const to = [out.pointer, outStride, rows, width, factor, slice.constant(0)];
      context.emit(KERNEL.scaleF32, [matrix.pointer, stride, ...to]);
      return;
    }
  }
});

registerLowering(MaxColumns, (op, context) => {
  const x = context.matrix(op.inputs[0]!);
  const out = context.output(op.output);
  const columns = context.slice.constant(x.columns);
  context.emit(KERNEL.maxColumnsF32, [x.pointer, x.stride, context.rows, columns, out.pointer, out.stride]);
});

registerLowering(SliceMax, (op, context) => {
  const x = context.matrix(op.inputs[0]!);
  const out = context.output(op.output);
  context.emit(KERNEL.maxRowsF32, [x.pointer, x.stride, out.pointer, context.rows, context.slice.constant(x.columns)]);
});

registerLowering(
  BatchMax,
  (op, context) => {
    const { slice, plan } = context;
    const parts = context.storage(op.inputs[0]!);
    if (parts.kind !== 'partial') throw new Error('the largest values of slices are per slice');
    const [stride, slices] = [slice.constant(parts.sliceBytes / 4), slice.constant(plan.slices)];
    const to = context.output(op.output).pointer;
    context.emit(KERNEL.maxRowsF32, [slice.constant(parts.base), stride, to, slices, slice.constant(parts.count)]);
  },
  { phase: { runs: 'slices', crosses: true } },
);
