/** @file Lowerings of elementwise ops of one operand. */
import { Cast, StopGradient } from '../../../graph/ops/cast.js';
import { Unary } from '../../../graph/ops/unary-op.js';
import { UNARY_KIND } from '../../../memory/kinds.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';

registerLowering(
  Unary,
  (op, context) => {
    const x = context.matrix(op.inputs[0]!);
    const y = context.output(op.output);
    const kind = context.slice.constant(UNARY_KIND[op.attrs.kind]);
    context.emit(KERNEL.unaryF32, { kind, x, y, ...context.sizeOf(op.output) });
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
  Cast,
  (op, context) => {
    const [src, dst] = [context.matrix(op.inputs[0]!), context.output(op.output)];
    context.emit(KERNEL.castI64F32, { src, dst, ...context.sizeOf(op.output) });
  },
  { strided: true },
);
