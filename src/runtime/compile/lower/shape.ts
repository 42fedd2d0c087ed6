/** @file Lowerings of ops that move parts of rows. */

import { Reshape, TransposeInner } from '../../../graph/ops/shape.js';
import { AssembleBlocks, GatherInner, ScatterInner, SliceInner } from '../../../graph/ops/slices.js';
import { KERNEL, type Kernel } from '../../kernels/kernels.js';
import { type LoweringContext, type Matrix, operands, registerLowering, type Storage } from '../lowering.js';

registerLowering(Reshape, (op, context) => context.setStorage(op.output, context.storage(op.inputs[0]!)), {
  phase: { runs: 'nothing' },
});

registerLowering(
  TransposeInner,
  (op, context) => {
    const { outer, n, inner } = op.attrs;
    const out = context.output(op.output);
    const sizes = [outer, n, inner].map((size) => context.slice.constant(size));
    const matrices = operands(context.matrix(op.inputs[0]!), out);
    context.emit(KERNEL.transposeInnerF32, [...matrices, context.rows, ...sizes, out.accumulate]);
  },
  { accumulates: true },
);

/** The matrix from a column on. */
function from(context: LoweringContext, storage: Storage, column: number): Matrix {
  if (storage.kind === 'slice') return context.matrixOf({ ...storage, base: storage.base + column * 4 });
  if (storage.kind === 'feed') return context.matrixOf({ ...storage, offset: storage.offset + column * 4 });
  throw new Error('only per-example tensors have columns');
}

registerLowering(
  SliceInner,
  (op, context) => {
    const { blocks, step, start, width } = op.attrs;
    const x = from(context, context.storage(op.inputs[0]!), start);
    const out = context.output(op.output);
    const [count, size] = [context.slice.constant(blocks), context.slice.constant(width)];
    context.emit(KERNEL.copyBlocksF32, [
      ...[x.pointer, x.stride, context.slice.constant(step)],
      ...[out.pointer, out.stride, size],
      ...[context.rows, count, size, out.accumulate],
    ]);
  },
  { accumulates: true },
);

registerLowering(
  AssembleBlocks,
  (op, context) => {
    const { blocks, step, parts } = op.attrs;
    const { slice } = context;
    const storage = context.allocate(op.output);
    const out = context.matrixOf(storage);
    const sorted = [...parts].sort((a, b) => a.start - b.start);
    const ends = [0, ...sorted.map(({ start, width }) => start + width)];
    const exact = ends.at(-1) === step && sorted.every(({ start }, index) => start === ends[index]);
    if (!exact) {
      context.emit(KERNEL.zeroRowsF32, [out.pointer, out.stride, context.rows, slice.constant(out.columns)]);
    }
    for (const [index, { start, width }] of parts.entries()) {
      const x = context.matrix(op.inputs[index]!);
      const to = from(context, storage, start);
      const size = slice.constant(width);
      context.emit(KERNEL.copyBlocksF32, [
        ...[x.pointer, x.stride, size],
        ...[to.pointer, to.stride, slice.constant(step)],
        ...[context.rows, slice.constant(blocks), size, slice.constant(exact ? 0 : 1)],
      ]);
    }
  },
  { strided: true },
);

for (const [def, kernel] of [
  [GatherInner, KERNEL.gatherInnerF32],
  [ScatterInner, KERNEL.scatterInnerF32],
] as readonly (readonly [typeof GatherInner, Kernel])[]) {
  registerLowering(
    def,
    (op, context) => {
      const { outer, n, inner, indices } = op.attrs;
      const { slice } = context;
      const list = context.alloc(indices.length * 4, 'indices');
      context.environment.views.u32.set(indices, list / 4);
      const out = context.output(op.output);
      context.emit(kernel, [
        ...operands(context.matrix(op.inputs[0]!), out),
        context.rows,
        ...[outer, n, inner, list, indices.length].map((word) => slice.constant(word)),
        out.accumulate,
      ]);
    },
    { accumulates: true },
  );
}
