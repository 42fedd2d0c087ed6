/** @file Lowerings of activations and their gradients. */
import type { Op, OpDef, Tensor } from '../../../graph/graph.js';
import {
  Activation,
  ActivationGrad,
  type ActivationKind,
  LeakyRelu,
  LeakyReluGrad,
  Prelu,
  PreluGrad,
  PreluSlopeGrad,
  SmoothActivation,
  SmoothActivationGrad,
  type SmoothKind,
} from '../../../graph/ops/activations.js';
import { AddBias } from '../../../graph/ops/rows.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, registerLowering } from '../lowering.js';
import { isRectified, reuseProduct } from './rows.js';

const FORWARD = {
  relu: KERNEL.reluF32,
  sigmoid: KERNEL.sigmoidF32,
  tanh: KERNEL.tanhF32,
  gelu: KERNEL.geluF32,
  geluTanh: KERNEL.geluTanhF32,
  swish: KERNEL.swishF32,
  softplus: KERNEL.softplusF32,
} as const satisfies Record<ActivationKind | SmoothKind, unknown>;
const FROM_RESULT = {
  relu: KERNEL.reluGradF32,
  sigmoid: KERNEL.sigmoidGradF32,
  tanh: KERNEL.tanhGradF32,
} as const satisfies Record<ActivationKind, unknown>;
const FROM_INPUT = {
  gelu: KERNEL.geluGradF32,
  geluTanh: KERNEL.geluTanhGradF32,
  swish: KERNEL.swishGradF32,
  softplus: KERNEL.softplusGradF32,
} as const satisfies Record<SmoothKind, unknown>;

/** x, y and their size. */
function forward(op: Op<unknown>, context: LoweringContext) {
  return { x: context.matrix(op.inputs[0]!), y: context.output(op.output), ...context.sizeOf(op.output) };
}

/** dy, x, dx, their size and the accumulate flag. */
function backward(op: Op<unknown>, context: LoweringContext) {
  const [dy, x] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
  const dx = context.output(op.output);
  return { dy, x, dx, ...context.sizeOf(op.output), acc: dx.accumulate };
}

registerLowering(
  Activation,
  (op, context) => {
    const before = op.inputs[0]!.op;
    if (before.def !== (AddBias as OpDef<unknown>) || !isRectified(context, before)) {
      context.emit(FORWARD[op.attrs.kind], forward(op, context));
      return;
    }
    const [product, bias] = before.inputs as [Tensor, Tensor];
    reuseProduct(context, product, op.output);
    context.emit(KERNEL.biasReluF32, {
      x: context.matrix(product),
      bias: context.pointer(bias),
      y: context.output(op.output),
      ...context.sizeOf(op.output),
    });
  },
  { strided: true },
);

registerLowering(
  ActivationGrad,
  (op, context) => {
    reuseProduct(context, op.inputs[0]!, op.output);
    const { x: y, ...rest } = backward(op, context);
    context.emit(FROM_RESULT[op.attrs.kind], { ...rest, y });
  },
  { accumulates: true },
);

registerLowering(SmoothActivation, (op, context) => context.emit(FORWARD[op.attrs.kind], forward(op, context)), {
  strided: true,
});
registerLowering(
  SmoothActivationGrad,
  (op, context) => context.emit(FROM_INPUT[op.attrs.kind], backward(op, context)),
  { accumulates: true },
);

registerLowering(
  LeakyRelu,
  (op, context) => {
    context.emit(KERNEL.leakyReluF32, { ...forward(op, context), slope: context.slice.constantF32(op.attrs.slope) });
  },
  { strided: true },
);
registerLowering(
  LeakyReluGrad,
  (op, context) => {
    const slope = context.slice.constantF32(op.attrs.slope);
    context.emit(KERNEL.leakyReluGradF32, { ...backward(op, context), slope });
  },
  { accumulates: true },
);

registerLowering(
  Prelu,
  (op, context) => {
    context.emit(KERNEL.preluF32, { ...forward(op, context), slope: context.pointer(op.inputs[1]!) });
  },
  { strided: true },
);

registerLowering(
  PreluGrad,
  (op, context) => {
    context.emit(KERNEL.preluGradF32, { ...backward(op, context), slope: context.pointer(op.inputs[2]!) });
  },
  { accumulates: true },
);

registerLowering(PreluSlopeGrad, (op, context) => {
  const [dy, x] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
  context.allocate(op.output);
  const dslope = context.pointer(op.output);
  context.emit(KERNEL.preluSlopeGradF32, { dy, x, dslope, ...context.sizeOf(op.inputs[1]!) });
});
