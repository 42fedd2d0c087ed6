/** @file Lowerings of activations, norms and losses that work row by row. */
import type { Op } from '../../../graph/graph.js';
import {
  LeakyRelu,
  LeakyReluGrad,
  Prelu,
  PreluGrad,
  PreluSlopeGrad,
  SmoothActivation,
  SmoothActivationGrad,
  type SmoothKind,
} from '../../../graph/ops/activations.js';
import {
  LogitLoss,
  type LogitLossAttrs,
  LogitLossGrad,
  SoftmaxLoss,
  SoftmaxLossGrad,
} from '../../../graph/ops/losses.js';
import { L2Normalize, L2NormalizeGrad, LayerNorm, LayerNormGainGrad, LayerNormGrad } from '../../../graph/ops/norms.js';
import { ScaleColumns } from '../../../graph/ops/rows.js';
import { KERNEL, type Kernel } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, operands, pairwise, registerLowering } from '../lowering.js';

const SMOOTH: Record<SmoothKind, readonly [forward: Kernel, backward: Kernel]> = {
  gelu: [KERNEL.geluF32, KERNEL.geluGradF32],
  geluTanh: [KERNEL.geluTanhF32, KERNEL.geluTanhGradF32],
  swish: [KERNEL.swishF32, KERNEL.swishGradF32],
  softplus: [KERNEL.softplusF32, KERNEL.softplusGradF32],
};

/** x, y, rows, columns and what the kernel takes beyond them. */
function forward(op: Op<unknown>, context: LoweringContext, kernel: Kernel, more: readonly Register[] = []): void {
  const out = context.output(op.output);
  const matrices = operands(context.matrix(op.inputs[0]!), out);
  context.emit(kernel, [...matrices, context.rows, context.slice.constant(out.columns), ...more]);
}

/** dy, x, dx, rows, columns, what the kernel takes beyond them, and the accumulate flag. */
function backward(op: Op<unknown>, context: LoweringContext, kernel: Kernel, more: readonly Register[]): void {
  const out = context.output(op.output);
  const matrices = operands(context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!), out);
  context.emit(kernel, [...matrices, context.rows, context.slice.constant(out.columns), ...more, out.accumulate]);
}

registerLowering(SmoothActivation, (op, context) => forward(op, context, SMOOTH[op.attrs.kind][0]), { strided: true });
registerLowering(SmoothActivationGrad, (op, context) => pairwise(SMOOTH[op.attrs.kind][1])(op, context), {
  accumulates: true,
});

registerLowering(
  LeakyRelu,
  (op, context) => forward(op, context, KERNEL.leakyReluF32, [context.slice.constantF32(op.attrs.slope)]),
  { strided: true },
);
registerLowering(
  LeakyReluGrad,
  (op, context) => backward(op, context, KERNEL.leakyReluGradF32, [context.slice.constantF32(op.attrs.slope)]),
  { accumulates: true },
);

registerLowering(
  Prelu,
  (op, context) => {
    const [x, slope] = [context.matrix(op.inputs[0]!), context.pointer(op.inputs[1]!)];
    const out = context.output(op.output);
    const columns = context.slice.constant(out.columns);
    context.emit(KERNEL.preluF32, [...operands(x), slope, ...operands(out), context.rows, columns]);
  },
  { strided: true },
);

registerLowering(
  PreluGrad,
  (op, context) => {
    const [grad, x] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const slope = context.pointer(op.inputs[2]!);
    const out = context.output(op.output);
    const sizes = [context.rows, context.slice.constant(out.columns)];
    context.emit(KERNEL.preluGradF32, [...operands(grad, x), slope, ...operands(out), ...sizes, out.accumulate]);
  },
  { accumulates: true },
);

registerLowering(PreluSlopeGrad, (op, context) => {
  const [grad, x] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
  context.allocate(op.output);
  const sizes = [context.rows, context.slice.constant(x.columns)];
  context.emit(KERNEL.preluSlopeGradF32, [...operands(grad, x), context.pointer(op.output), ...sizes]);
});

registerLowering(
  ScaleColumns,
  (op, context) => {
    const [x, factors] = [context.matrix(op.inputs[0]!), context.pointer(op.inputs[1]!)];
    const out = context.output(op.output);
    const sizes = [context.rows, context.slice.constant(out.columns)];
    context.emit(KERNEL.scaleColumnsF32, [...operands(x), factors, ...operands(out), ...sizes, out.accumulate]);
  },
  { accumulates: true },
);

registerLowering(
  LayerNorm,
  (op, context) => {
    const x = context.matrix(op.inputs[0]!);
    const shared = [context.pointer(op.inputs[1]!), context.pointer(op.inputs[2]!)];
    const out = context.output(op.output);
    const stats = context.matrixOf(context.allocate(op.outputs[1]!));
    const { slice } = context;
    context.emit(KERNEL.layerNormF32, [
      ...operands(x),
      ...shared,
      ...operands(out),
      stats.pointer,
      context.rows,
      slice.constant(out.columns),
      slice.constantF32(op.attrs.epsilon),
    ]);
  },
  { strided: true },
);

registerLowering(
  LayerNormGrad,
  (op, context) => {
    const [grad, x, stats] = [0, 1, 3].map((index) => context.matrix(op.inputs[index]!));
    const gain = context.pointer(op.inputs[2]!);
    const out = context.output(op.output);
    const sizes = [context.rows, context.slice.constant(out.columns)];
    const inputs = [...operands(grad!, x!), gain, stats!.pointer];
    context.emit(KERNEL.layerNormGradF32, [...inputs, ...operands(out), ...sizes, out.accumulate]);
  },
  { accumulates: true },
);

registerLowering(LayerNormGainGrad, (op, context) => {
  const [grad, x, stats] = op.inputs.map((input) => context.matrix(input));
  context.allocate(op.output);
  const sizes = [context.rows, context.slice.constant(x!.columns)];
  const inputs = [...operands(grad!, x!), stats!.pointer];
  context.emit(KERNEL.layerNormGainGradF32, [...inputs, context.pointer(op.output), ...sizes]);
});

registerLowering(
  L2Normalize,
  (op, context) => forward(op, context, KERNEL.l2NormalizeF32, [context.slice.constantF32(op.attrs.epsilon)]),
  { strided: true },
);
registerLowering(
  L2NormalizeGrad,
  (op, context) => backward(op, context, KERNEL.l2NormalizeGradF32, [context.slice.constantF32(op.attrs.epsilon)]),
  { accumulates: true },
);

const LOGIT_LOSS: Record<LogitLossAttrs['kind'], readonly [forward: Kernel, backward: Kernel]> = {
  weightedBce: [KERNEL.weightedBceF32, KERNEL.weightedBceGradF32],
  hinge: [KERNEL.hingeF32, KERNEL.hingeGradF32],
  focal: [KERNEL.focalF32, KERNEL.focalGradF32],
};

/** The factors that the kernels of a kind take. */
function factors(context: LoweringContext, { kind, gamma, positive, negative }: LogitLossAttrs): Register[] {
  const values = { weightedBce: [positive, negative], hinge: [], focal: [gamma, positive, negative] }[kind];
  return values.map((value) => context.slice.constantF32(value));
}

registerLowering(
  LogitLoss,
  (op, context) => {
    const out = context.matrixOf(context.allocate(op.output));
    const matrices = operands(...op.inputs.map((input) => context.matrix(input)), out);
    context.emit(LOGIT_LOSS[op.attrs.kind][0], [...matrices, context.rows, ...factors(context, op.attrs)]);
  },
  { strided: true },
);

registerLowering(
  LogitLossGrad,
  (op, context) => {
    const out = context.output(op.output);
    const matrices = operands(...op.inputs.map((input) => context.matrix(input)), out);
    const more = [...factors(context, op.attrs), out.accumulate];
    context.emit(LOGIT_LOSS[op.attrs.kind][1], [...matrices, context.rows, ...more]);
  },
  { accumulates: true },
);

registerLowering(
  SoftmaxLoss,
  (op, context) => {
    const out = context.matrixOf(context.allocate(op.output));
    const [logits, labels] = op.inputs.map((input) => context.matrix(input));
    const sizes = [
      context.rows,
      context.slice.constant(logits!.columns),
      context.slice.constant(Number(op.attrs.sparse)),
    ];
    context.emit(KERNEL.softmaxLossF32, [...operands(logits!, labels!, out), ...sizes]);
  },
  { strided: true },
);

registerLowering(
  SoftmaxLossGrad,
  (op, context) => {
    const out = context.output(op.output);
    const matrices = operands(...op.inputs.map((input) => context.matrix(input)), out);
    const sizes = [context.rows, context.slice.constant(out.columns), context.slice.constant(Number(op.attrs.sparse))];
    context.emit(KERNEL.softmaxLossGradF32, [...matrices, ...sizes, out.accumulate]);
  },
  { accumulates: true },
);
