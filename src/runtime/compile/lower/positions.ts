/** @file Lowerings of ops that move parts of rows. */
import { AssembleBlocks, GatherInner, ScatterInner, SliceInner } from '../../../graph/ops/positions.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, type Matrix, registerLowering, type Storage } from '../lowering.js';
import { innerSizes } from './inner.js';

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
    const { slice } = context;
    const out = context.output(op.output);
    const size = slice.constant(width);
    context.emit(KERNEL.copyBlocksF32, {
      src: { ...from(context, context.storage(op.inputs[0]!), start), step: slice.constant(step) },
      dst: { ...out, step: size },
      rows: context.rows,
      blocks: slice.constant(blocks),
      width: size,
      acc: out.accumulate,
    });
  },
  { accumulates: true },
);

registerLowering(
  AssembleBlocks,
  (op, context) => {
    const { blocks, step, parts } = op.attrs;
    const { slice } = context;
    const storage = context.allocate(op.output);
    const sorted = [...parts].sort((a, b) => a.start - b.start);
    const ends = [0, ...sorted.map(({ start, width }) => start + width)];
    const exact = ends.at(-1) === step && sorted.every(({ start }, index) => start === ends[index]);
    if (!exact) {
      const dst = context.matrixOf(storage);
      context.emit(KERNEL.zeroRowsF32, { dst, rows: context.rows, cols: slice.constant(dst.columns) });
    }
    for (const [index, { start, width }] of parts.entries()) {
      const size = slice.constant(width);
      context.emit(KERNEL.copyBlocksF32, {
        src: { ...context.matrix(op.inputs[index]!), step: size },
        dst: { ...from(context, storage, start), step: slice.constant(step) },
        rows: context.rows,
        blocks: slice.constant(blocks),
        width: size,
        acc: slice.constant(exact ? 0 : 1),
      });
    }
  },
  { strided: true },
);

for (const [def, kernel] of [
  [GatherInner, KERNEL.gatherInnerF32],
  [ScatterInner, KERNEL.scatterInnerF32],
] as const) {
  registerLowering(
    def,
    (op, context) => {
      const { indices } = op.attrs;
      const { slice } = context;
      const list = context.alloc(indices.length * 4, 'indices');
      context.environment.views.u32.set(indices, list / 4);
      const src = context.matrix(op.inputs[0]!);
      const dst = context.output(op.output);
      context.emit(kernel, {
        src,
        dst,
        ...innerSizes(context, op.attrs),
        indices: slice.constant(list),
        count: slice.constant(indices.length),
        acc: dst.accumulate,
      });
    },
    { accumulates: true },
  );
}
