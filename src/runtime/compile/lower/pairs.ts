/** @file Lowerings of products of pairs of fields. */
import type { Tensor } from '../../../graph/graph.js';
import { Cin, CinGrad, FmPairs, FmPairsGrad, PairProducts, PairProductsGrad } from '../../../graph/ops/pairs.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, registerLowering } from '../lowering.js';

/** Rows of `fields` vectors of `dim` floats. */
function fieldSizes({ slice, rows }: LoweringContext, attrs: { fields: number; dim: number }) {
  return { rows, fields: slice.constant(attrs.fields), dim: slice.constant(attrs.dim) };
}

registerLowering(
  FmPairs,
  (op, context) => {
    const out = context.output(op.output);
    const x = context.matrix(op.inputs[0]!);
    context.emit(KERNEL.fmPairsF32, { x, out, ...fieldSizes(context, op.attrs), acc: out.accumulate });
  },
  { accumulates: true },
);

registerLowering(
  FmPairsGrad,
  (op, context) => {
    const [dy, x] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const dx = context.output(op.output);
    context.emit(KERNEL.fmPairsGradF32, { dy, x, dx, ...fieldSizes(context, op.attrs), acc: dx.accumulate });
  },
  { accumulates: true },
);

/** Rows of two sides, with as many vectors of `dim` floats. */
function pairSizes({ slice, rows }: LoweringContext, attrs: { lefts: number; rights: number; dim: number }) {
  const { lefts, rights, dim } = attrs;
  return { rows, lefts: slice.constant(lefts), rights: slice.constant(rights), dim: slice.constant(dim) };
}

registerLowering(
  PairProducts,
  (op, context) => {
    const [left, right] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const out = context.output(op.output);
    context.emit(KERNEL.pairProductsF32, { left, right, out, ...pairSizes(context, op.attrs), acc: out.accumulate });
  },
  { accumulates: true },
);

registerLowering(
  PairProductsGrad,
  (op, context) => {
    const { lefts, rights, dim, of } = op.attrs;
    const { slice } = context;
    const [count, others, step, otherStep] = of === 'left' ? [lefts, rights, rights, 1] : [rights, lefts, 1, rights];
    const dx = context.output(op.output);
    context.emit(KERNEL.pairProductsGradF32, {
      dy: context.matrix(op.inputs[0]!),
      other: context.matrix(op.inputs[1]!),
      dx,
      rows: context.rows,
      count: slice.constant(count),
      others: slice.constant(others),
      dim: slice.constant(dim),
      step: slice.constant(step),
      otherStep: slice.constant(otherStep),
      acc: dx.accumulate,
    });
  },
  { accumulates: true },
);

registerLowering(
  Cin,
  (op, context) => {
    const { lefts, rights, dim, outs } = op.attrs;
    const [left, right, w] = op.inputs as [Tensor, Tensor, Tensor];
    const out = context.output(op.output);
    context.emit(KERNEL.cinF32, {
      left: context.matrix(left),
      right: context.matrix(right),
      w: context.pointer(w),
      out,
      ...pairSizes(context, op.attrs),
      outs: context.slice.constant(outs),
      scratch: context.perSlice(lefts * rights * dim * 4, 'products').pointer,
      acc: out.accumulate,
    });
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
    context.emit(KERNEL.cinGradF32, {
      dy: context.matrix(grad),
      left: context.matrix(left),
      right: context.matrix(right),
      w: context.pointer(w),
      dLeft,
      accLeft: dLeft.accumulate,
      dRight,
      accRight: dRight.accumulate,
      dw: context.pointer(op.outputs[2]!),
      ...pairSizes(context, op.attrs),
      outs: context.slice.constant(outs),
      scratch: context.perSlice(((2 * pairs + outs) * dim + pairs * outs) * 4, 'products').pointer,
    });
  },
  { accumulates: true },
);
