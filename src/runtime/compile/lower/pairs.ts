/** @file Lowerings of products of pairs of fields. */
import type { Tensor } from '../../../graph/graph.js';
import { Cin, CinGrad, PairProducts, PairProductsGrad } from '../../../graph/ops/pairs.js';
import { KERNEL } from '../../kernels/kernels.js';
import { operands, registerLowering } from '../lowering.js';

registerLowering(
  PairProducts,
  (op, context) => {
    const { lefts, rights, dim } = op.attrs;
    const inputs = op.inputs.map((input) => context.matrix(input));
    const out = context.output(op.output);
    const sizes = [lefts, rights, dim].map((size) => context.slice.constant(size));
    context.emit(KERNEL.pairProductsF32, [...operands(...inputs, out), context.rows, ...sizes, out.accumulate]);
  },
  { accumulates: true },
);

registerLowering(
  PairProductsGrad,
  (op, context) => {
    const { lefts, rights, dim, of } = op.attrs;
    const [grad, other] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const out = context.output(op.output);
    const sizes = of === 'left' ? [lefts, rights, dim, rights, 1] : [rights, lefts, dim, 1, rights];
    const words = sizes.map((size) => context.slice.constant(size));
    context.emit(KERNEL.pairProductsGradF32, [...operands(grad, other, out), context.rows, ...words, out.accumulate]);
  },
  { accumulates: true },
);

registerLowering(
  Cin,
  (op, context) => {
    const { lefts, rights, dim, outs } = op.attrs;
    const [left, right, w] = op.inputs as [Tensor, Tensor, Tensor];
    const out = context.output(op.output);
    const scratch = context.perSlice(lefts * rights * dim * 4, 'products').pointer;
    context.emit(KERNEL.cinF32, [
      ...operands(context.matrix(left), context.matrix(right)),
      ...[context.pointer(w), out.pointer, out.stride, context.rows],
      ...[lefts, rights, dim, outs].map((size) => context.slice.constant(size)),
      ...[scratch, out.accumulate],
    ]);
  },
  { accumulates: true },
);

registerLowering(
  CinGrad,
  (op, context) => {
    const { lefts, rights, dim, outs } = op.attrs;
    const pairs = lefts * rights;
    const [grad, left, right, w] = op.inputs as [Tensor, Tensor, Tensor, Tensor];
    // In this order: when both sides are one tensor, the second is added to the first.
    const [dLeft, dRight] = [context.output(op.outputs[0]!), context.output(op.outputs[1]!)];
    context.allocate(op.outputs[2]!);
    const scratch = context.perSlice(((2 * pairs + outs) * dim + pairs * outs) * 4, 'products').pointer;
    context.emit(KERNEL.cinGradF32, [
      ...operands(context.matrix(grad), context.matrix(left), context.matrix(right)),
      context.pointer(w),
      ...[dLeft.pointer, dLeft.stride, dLeft.accumulate, dRight.pointer, dRight.stride, dRight.accumulate],
      ...[context.pointer(op.outputs[2]!), context.rows],
      ...[lefts, rights, dim, outs].map((size) => context.slice.constant(size)),
      scratch,
    ]);
  },
  { accumulates: true },
);
