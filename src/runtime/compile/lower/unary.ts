/** @file Lowerings of elementwise ops of one operand. */
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
