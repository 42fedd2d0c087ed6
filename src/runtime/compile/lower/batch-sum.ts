/** @file Lowerings of completed sums over the batch and of whole values that become part of one. */
import { misfit } from '../../../graph/graph.js';
import { AsPartial, BatchSum } from '../../../graph/ops/batch-sum.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';

registerLowering(
  BatchSum,
  (op, context) => {
    const storage = context.storage(op.inputs[0]!);
    if (storage.kind !== 'partial') throw misfit(op, `${op.inputs[0]!.name} is no sum over the batch`);
    const { base, sliceBytes, count } = storage;
    const { slice, thread, plan } = context;
    if (op.attrs.by === 'slices') {
      context.emit(KERNEL.reduceSlicesF32, {
        src: slice.constant(base),
        sliceStride: slice.constant(sliceBytes / 4),
        slices: slice.constant(plan.slices),
        dst: context.output(op.output).pointer,
        n: slice.constant(count),
      });
      return;
    }
    const range = context.threadRange(count);
    context.emitThread(KERNEL.reduceSlicesF32, {
      src: range.at(base),
      sliceStride: thread.constant(sliceBytes / 4),
      slices: thread.constant(plan.slices),
      dst: range.at(context.allocateGlobal(op.output).base),
      n: range.floats,
    });
  },
  {
    phase: ({ attrs }) =>
      attrs.by === 'slices' ? { runs: 'slices', crosses: true } : { runs: 'threads', gives: 'range' },
  },
);

registerLowering(AsPartial, (op, context) => {
  const src = context.matrix(op.inputs[0]!);
  const dst = context.output(op.output);
  const factor = context.slice.eachF32((slice) => (slice === 0 ? 1 : 0));
  context.emit(KERNEL.scaleF32, { src, dst, ...context.sizeOf(op.output), factor, acc: dst.accumulate });
});
