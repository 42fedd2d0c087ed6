/** @file Lowerings of ops that give rows another shape. */
import { Reshape, TransposeInner } from '../../../graph/ops/shape.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';
import { innerSizes } from './inner.js';

registerLowering(Reshape, (op, context) => context.setStorage(op.output, context.storage(op.inputs[0]!)), {
  phase: { runs: 'nothing' },
});

registerLowering(
  TransposeInner,
  (op, context) => {
    const src = context.matrix(op.inputs[0]!);
    const dst = context.output(op.output);
    context.emit(KERNEL.transposeInnerF32, { src, dst, ...innerSizes(context, op.attrs), acc: dst.accumulate });
  },
  { accumulates: true },
);
