/** @file Lowerings of the softmax over the rows of the batch. */
import { InbatchSoftmax, InbatchSoftmaxGrad } from '../../../graph/ops/inbatch-softmax.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';
import { gathered } from './inbatch-auc.js';

registerLowering(
  InbatchSoftmax,
  (op, context) => {
    const [all, , x] = op.inputs;
    const [loss, sums] = op.outputs.map((output) => context.output(output));
    const { batchRows, firstRow, rows, slice } = context;
    context.emit(KERNEL.inbatchSoftmaxF32, {
      others: gathered(context, all!),
      rows: batchRows,
      first: firstRow,
      count: rows,
      dim: slice.constant(x!.columns),
      x: context.matrix(x!),
      loss: loss!,
      sums: sums!,
    });
  },
  { phase: { runs: 'slices', crosses: true } },
);

registerLowering(
  InbatchSoftmaxGrad,
  (op, context) => {
    const [all, grads, sums, x] = op.inputs;
    const dx = context.output(op.output);
    const { batchRows, firstRow, rows, slice } = context;
    context.emit(KERNEL.inbatchSoftmaxGradF32, {
      others: gathered(context, all!),
      grads: gathered(context, grads!),
      sums: gathered(context, sums!),
      rows: batchRows,
      first: firstRow,
      count: rows,
      dim: slice.constant(x!.columns),
      byOther: slice.constant(op.attrs.byOther ? 1 : 0),
      x: context.matrix(x!),
      dx,
      acc: dx.accumulate,
    });
  },
  { accumulates: true, phase: { runs: 'slices', crosses: true } },
);
