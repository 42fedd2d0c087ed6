/** @file Lowerings of completed sums over the batch and of whole values that become part of one. */
import { misfit } from '../../../graph/graph.js';
import { AsPartial, BatchSum } from '../../../graph/ops/batch-sum.js';
import { KERNEL } from '../../kernels/kernels.js';
import { operands, registerLowering } from '../lowering.js';

registerLowering(
  BatchSum,
  (op, context) => {
    const storage = context.storage(op.inputs[0]!);
    if (storage.kind !== 'partial') throw misfit(op, `${op.inputs[0]!.name} is no sum over the batch`);
    const { base, sliceBytes, count } = storage;
    const { slice, thread, plan } = context;
    if (op.attrs.by === 'slices') {
      const out = context.output(op.output).pointer;
      const [stride, slices] = [slice.constant(sliceBytes / 4), slice.constant(plan.slices)];
      context.emit(KERNEL.reduceSlicesF32, [slice.constant(base), stride, slices, out, slice.constant(count)]);
      return;
    }
    const range = context.threadRange(count);
    const out = range.at(context.allocateGlobal(op.output).base);
    const [stride, slices] = [thread.constant(sliceBytes / 4), thread.constant(plan.slices)];
    context.emitThread(KERNEL.reduceSlicesF32, [range.at(base), stride, slices, out, range.floats]);
  },
  {
    phase: ({ attrs }) =>
      attrs.by === 'slices' ? { runs: 'slices', crosses: true } : { runs: 'threads', gives: 'range' },
  },
);

registerLowering(AsPartial, (op, context) => {
  const out = context.output(op.output);
  const one = new DataView(new ArrayBuffer(4));
  one.setFloat32(0, 1);
  const share = context.slice.each((slice) => (slice === 0 ? one.getUint32(0) : 0));
  context.emit(KERNEL.scaleF32, [
    ...operands(context.matrix(op.inputs[0]!), out),
    context.rowsOf(op.output),
    context.slice.constant(out.columns),
    share,
    out.accumulate,
  ]);
});
