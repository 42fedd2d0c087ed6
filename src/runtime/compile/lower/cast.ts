/** @file Lowerings of ops that change what a tensor counts as. */
import { Cast, StopGradient } from '../../../graph/ops/cast.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';

registerLowering(
  StopGradient,
  (op, context) => {
    context.setStorage(op.output, context.storage(op.inputs[0]!));
  },
  { phase: { runs: 'nothing' } },
);

registerLowering(
  Cast,
  (op, context) => {
    const [src, dst] = [context.matrix(op.inputs[0]!), context.output(op.output)];
    context.emit(KERNEL.castI64F32, { src, dst, ...context.sizeOf(op.output) });
  },
  { strided: true },
);
