/** @file Lowering of whole numbers to floats. */
import { Cast } from '../../../graph/ops/unary.js';
import { KERNEL } from '../../kernels/kernels.js';
import { operands, registerLowering } from '../lowering.js';

registerLowering(
  Cast,
  (op, context) => {
    const [from, to] = [context.matrix(op.inputs[0]!), context.output(op.output)];
    const sizes = [context.rowsOf(op.output), context.slice.constant(to.columns)];
    context.emit(KERNEL.castI64F32, [...operands(from, to), ...sizes]);
  },
  { strided: true },
);
