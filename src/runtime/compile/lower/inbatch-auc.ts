/** @file Lowerings of the gathered batch and of the loss over its pairs. */
import type { Tensor } from '../../../graph/graph.js';
import { GatherBatch, InbatchAuc, InbatchAucGrad } from '../../../graph/ops/inbatch-auc.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, registerLowering } from '../lowering.js';

registerLowering(GatherBatch, (op, context) => {
  const { slice, plan } = context;
  const src = context.matrix(op.inputs[0]!);
  // Slices need not be equally long, but together they are no longer than this.
  const { columns } = op.output;
  const base = context.alloc(plan.slices * plan.sliceRows * columns * 4, op.output.name);
  context.setStorage(op.output, { kind: 'whole', base, stride: columns, columns });
  const cols = slice.constant(columns);
  const dst = { pointer: context.matrix(op.output).pointer, stride: cols };
  context.emit(KERNEL.copyRowsF32, { src, dst, rows: context.rows, cols, acc: slice.constant(0) });
});

/** Where the rows of the whole batch are, of a tensor that was gathered. */
export function gathered(context: LoweringContext, input: Tensor) {
  const storage = context.storage(input);
  if (storage.kind !== 'whole') throw new Error(`${input.name} is not gathered`);
  return context.slice.constant(storage.base);
}

/** Labels and logits of the batch, and the rows of this slice. */
function pairs(context: LoweringContext, inputs: readonly Tensor[]) {
  const [labels, logits] = inputs.slice(0, 2).map((input) => gathered(context, input));
  const { batchRows, firstRow, rows } = context;
  return { labels: labels!, logits: logits!, rows: batchRows, first: firstRow, count: rows };
}

registerLowering(
  InbatchAuc,
  (op, context) => {
    context.emit(KERNEL.inbatchAucF32, { ...pairs(context, op.inputs), dst: context.output(op.output).pointer });
  },
  { phase: { runs: 'slices', crosses: true } },
);

registerLowering(
  InbatchAucGrad,
  (op, context) => {
    const dst = context.output(op.output);
    context.emit(KERNEL.inbatchAucGradF32, {
      ...pairs(context, op.inputs),
      grad: context.pointer(op.inputs[2]!),
      negWeight: context.slice.constantF32(op.attrs.negWeight),
      dst,
      acc: dst.accumulate,
    });
  },
  { accumulates: true, phase: { runs: 'slices', crosses: true } },
);
