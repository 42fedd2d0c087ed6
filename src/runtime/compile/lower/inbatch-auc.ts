/** @file Lowerings of the gathered batch and of the loss over its pairs. */
import type { Tensor } from '../../../graph/graph.js';
import { GatherBatch, InbatchAuc, InbatchAucGrad } from '../../../graph/ops/inbatch-auc.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, registerLowering } from '../lowering.js';

registerLowering(GatherBatch, (op, context) => {
  const { slice, plan } = context;
  const x = context.matrix(op.inputs[0]!);
  // Slices need not be equally long, but together they are no longer than this.
  const base = context.alloc(plan.slices * plan.sliceRows * 4, op.output.name);
  context.setStorage(op.output, { kind: 'whole', base, stride: 1, columns: 1 });
  const to = context.matrix(op.output);
  const one = slice.constant(1);
  context.emit(KERNEL.copyRowsF32, [x.pointer, x.stride, to.pointer, one, context.rows, one, slice.constant(0)]);
});

/** Labels, logits, rows of the batch, first row and rows of this slice. */
function pairs(context: LoweringContext, inputs: readonly Tensor[]): Register[] {
  const bases = inputs.slice(0, 2).map((input) => {
    const storage = context.storage(input);
    if (storage.kind !== 'whole') throw new Error(`${input.name} is not gathered`);
    return context.slice.constant(storage.base);
  });
  return [...bases, context.batchRows, context.firstRow, context.rows];
}

registerLowering(
  InbatchAuc,
  (op, context) => {
    context.emit(KERNEL.inbatchAucF32, [...pairs(context, op.inputs), context.output(op.output).pointer]);
  },
  { phase: { runs: 'slices', crosses: true } },
);

registerLowering(
  InbatchAucGrad,
  (op, context) => {
    const { slice } = context;
    const out = context.output(op.output);
    const grad = context.pointer(op.inputs[2]!);
    const to = [out.pointer, out.stride, out.accumulate];
    const weight = slice.constantF32(op.attrs.negWeight);
    context.emit(KERNEL.inbatchAucGradF32, [...pairs(context, op.inputs), grad, weight, ...to]);
  },
  { accumulates: true, phase: { runs: 'slices', crosses: true } },
);
