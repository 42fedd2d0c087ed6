/** @file Lowerings of the factorization machine term. */
import { FmPairs, FmPairsGrad } from '../../../graph/ops/pairs.js';
import { KERNEL } from '../../kernels/kernels.js';
import { operands, registerLowering } from '../lowering.js';

registerLowering(
  FmPairs,
  (op, context) => {
    const out = context.output(op.output);
    const [fields, dim] = [context.slice.constant(op.attrs.fields), context.slice.constant(op.attrs.dim)];
    const matrices = operands(context.matrix(op.inputs[0]!), out);
    context.emit(KERNEL.fmPairsF32, [...matrices, context.rows, fields, dim, out.accumulate]);
  },
  { accumulates: true },
);

registerLowering(
  FmPairsGrad,
  (op, context) => {
    const [grad, x] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const out = context.output(op.output);
    const [fields, dim] = [context.slice.constant(op.attrs.fields), context.slice.constant(op.attrs.dim)];
    context.emit(KERNEL.fmPairsGradF32, [...operands(grad, x, out), context.rows, fields, dim, out.accumulate]);
  },
  { accumulates: true },
);
