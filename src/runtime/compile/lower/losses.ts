/** @file Lowerings of losses and their gradients. */
import type { Op } from '../../../graph/graph.js';
import {
  LogitLoss,
  type LogitLossAttrs,
  LogitLossGrad,
  SigmoidCrossEntropy,
  SigmoidCrossEntropyGrad,
  SoftmaxLoss,
  SoftmaxLossGrad,
} from '../../../graph/ops/losses.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, registerLowering } from '../lowering.js';

/** Logits, labels and the losses of examples. */
function forward(op: Op<unknown>, context: LoweringContext) {
  const out = context.matrixOf(context.allocate(op.output));
  const [x, label] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
  return { x, label, out, rows: context.rows };
}

/** Logits, labels, gradients of the losses and of the logits. */
function backward(op: Op<unknown>, context: LoweringContext) {
  const dx = context.output(op.output);
  const [x, label, dy] = op.inputs.map((input) => context.matrix(input));
  return { x: x!, label: label!, dy: dy!, dx, rows: context.rows, acc: dx.accumulate };
}

registerLowering(
  SigmoidCrossEntropy,
  (op, context) => {
    context.emit(KERNEL.bceLogitsF32, forward(op, context));
  },
  { strided: true },
);

registerLowering(
  SigmoidCrossEntropyGrad,
  (op, context) => {
    context.emit(KERNEL.bceLogitsGradF32, backward(op, context));
  },
  { accumulates: true },
);

/** The factors that kernels of logit losses take; each picks its own. */
function factors({ slice }: LoweringContext, { gamma, positive, negative }: LogitLossAttrs) {
  const weights = { positive: slice.constantF32(positive), negative: slice.constantF32(negative) };
  return { weights, focus: { gamma: slice.constantF32(gamma), ...weights } };
}

registerLowering(
  LogitLoss,
  (op, context) => {
    const operands = forward(op, context);
    const { weights, focus } = factors(context, op.attrs);
    const { kind } = op.attrs;
    switch (kind) {
      case 'weightedBce':
        return context.emit(KERNEL.weightedBceF32, { ...operands, ...weights });
      case 'hinge':
        return context.emit(KERNEL.hingeF32, operands);
      case 'focal':
        return context.emit(KERNEL.focalF32, { ...operands, ...focus });
      default:
        return kind satisfies never;
    }
  },
  { strided: true },
);

registerLowering(
  LogitLossGrad,
  (op, context) => {
    const operands = backward(op, context);
    const { weights, focus } = factors(context, op.attrs);
    const { kind } = op.attrs;
    switch (kind) {
      case 'weightedBce':
        return context.emit(KERNEL.weightedBceGradF32, { ...operands, ...weights });
      case 'hinge':
        return context.emit(KERNEL.hingeGradF32, operands);
      case 'focal':
        return context.emit(KERNEL.focalGradF32, { ...operands, ...focus });
      default:
        return kind satisfies never;
    }
  },
  { accumulates: true },
);

registerLowering(
  SoftmaxLoss,
  (op, context) => {
    const operands = forward(op, context);
    const { slice } = context;
    const index = slice.constant(Number(op.attrs.sparse));
    context.emit(KERNEL.softmaxLossF32, { ...operands, cols: slice.constant(operands.x.columns), index });
  },
  { strided: true },
);

registerLowering(
  SoftmaxLossGrad,
  (op, context) => {
    const operands = backward(op, context);
    const { slice } = context;
    const index = slice.constant(Number(op.attrs.sparse));
    context.emit(KERNEL.softmaxLossGradF32, { ...operands, cols: slice.constant(operands.dx.columns), index });
  },
  { accumulates: true },
);
