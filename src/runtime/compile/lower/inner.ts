/** @file Lowerings of reductions over inner dimensions, shared values, groups, softmax, top-k and masks. */
import type { Op } from '../../../graph/graph.js';
import { Softmax, SoftmaxGrad } from '../../../graph/ops/attention.js';
import {
  BroadcastInner,
  GroupDot,
  type InnerAttrs,
  MaxInner,
  MaxInnerGrad,
  ScaleGroups,
  Shared,
  SumInner,
  SumShared,
  TopK,
  TopKGrad,
} from '../../../graph/ops/inner.js';
import { SequenceMask } from '../../../graph/ops/sequence.js';
import { KERNEL, type Kernel } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, operands, registerLowering } from '../lowering.js';

const constants = (context: LoweringContext, ...words: readonly number[]): Register[] =>
  words.map((word) => context.slice.constant(word));

const accumulates = { accumulates: true };

for (const [def, kernel] of [
  [SumInner, KERNEL.sumInnerF32],
  [BroadcastInner, KERNEL.broadcastInnerF32],
] as const) {
  registerLowering(
    def,
    (op: Op<InnerAttrs>, context) => {
      const { outer, n, inner, factor } = op.attrs;
      const out = context.output(op.output);
      const sizes = constants(context, outer, n, inner);
      const matrices = operands(context.matrix(op.inputs[0]!), out);
      const scale = context.slice.constantF32(factor);
      context.emit(kernel, [...matrices, context.rows, ...sizes, scale, out.accumulate]);
    },
    accumulates,
  );
}

for (const [def, kernel] of [
  [MaxInner, KERNEL.maxInnerF32],
  [MaxInnerGrad, KERNEL.maxInnerGradF32],
] as const) {
  registerLowering(
    def,
    (op, context) => {
      const { outer, n, inner } = op.attrs;
      const inputs = op.inputs.map((input) => context.matrix(input));
      const out = context.output(op.output);
      const sizes = constants(context, outer, n, inner);
      context.emit(kernel, [...operands(...inputs, out), context.rows, ...sizes, out.accumulate]);
    },
    accumulates,
  );
}

registerLowering(
  Shared,
  (op, context) => {
    const [x, v] = [context.matrix(op.inputs[0]!), context.pointer(op.inputs[1]!)];
    const out = context.output(op.output);
    const kernel = op.attrs.kind === 'add' ? KERNEL.addSharedF32 : KERNEL.mulSharedF32;
    const sizes = constants(context, out.columns, op.inputs[1]!.columns);
    context.emit(kernel, [
      ...[x.pointer, x.stride, v, out.pointer, out.stride],
      ...[context.rows, ...sizes, out.accumulate],
    ]);
  },
  accumulates,
);

registerLowering(SumShared, (op, context) => {
  const [a, b] = op.inputs.map((input) => context.matrix(input));
  context.allocate(op.output);
  const none = context.slice.constant(0);
  context.emit(KERNEL.sumSharedF32, [
    ...[a!.pointer, a!.stride, b?.pointer ?? none, b?.stride ?? none],
    ...[context.pointer(op.output), context.rows, ...constants(context, a!.columns, op.output.columns)],
  ]);
});

/** A row of `x` is groups of as many floats as its last dimension has. */
function emitGroups(kernel: Kernel, op: Op<unknown>, context: LoweringContext): void {
  const inputs = op.inputs.map((input) => context.matrix(input));
  const out = context.output(op.output);
  const { shape } = op.inputs[1]!.spec;
  const width = shape.at(-1) as number;
  const sizes = constants(context, op.inputs[1]!.columns / width, width);
  context.emit(kernel, [...operands(...inputs, out), context.rows, ...sizes, out.accumulate]);
}

registerLowering(ScaleGroups, (op, context) => emitGroups(KERNEL.scaleGroupsF32, op, context), accumulates);
registerLowering(GroupDot, (op, context) => emitGroups(KERNEL.groupDotF32, op, context), accumulates);
registerLowering(SoftmaxGrad, (op, context) => emitGroups(KERNEL.softmaxGradF32, op, context), accumulates);

registerLowering(
  Softmax,
  (op, context) => {
    const { groups, width } = op.attrs;
    const [x, mask] = op.inputs.map((input) => context.matrix(input));
    const out = context.output(op.output);
    const none = context.slice.constant(0);
    const ownMask = mask !== undefined && mask.columns === groups * width && groups > 1;
    context.emit(KERNEL.softmaxF32, [
      ...[x!.pointer, x!.stride],
      ...[mask?.pointer ?? none, mask?.stride ?? none, context.slice.constant(ownMask ? width : 0)],
      ...[out.pointer, out.stride, context.rows, ...constants(context, groups, width)],
    ]);
  },
  { strided: true },
);

registerLowering(
  TopK,
  (op, context) => {
    const { groups, width, k } = op.attrs;
    const outputs = op.outputs.map((output) => context.matrixOf(context.allocate(output)));
    const matrices = operands(context.matrix(op.inputs[0]!), ...outputs);
    context.emit(KERNEL.topKF32, [...matrices, context.rows, ...constants(context, groups, width, k)]);
  },
  { strided: true },
);

registerLowering(
  TopKGrad,
  (op, context) => {
    const { groups, width, k } = op.attrs;
    const [grad, indices] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const out = context.output(op.output);
    const sizes = constants(context, groups, width, k);
    context.emit(KERNEL.topKGradF32, [...operands(grad, indices, out), context.rows, ...sizes, out.accumulate]);
  },
  accumulates,
);

registerLowering(
  SequenceMask,
  (op, context) => {
    const { splits } = context.ragged(op.inputs[0]!);
    const out = context.output(op.output);
    const n = context.slice.constant(op.attrs.n);
    context.emit(KERNEL.seqMaskF32, [splits, context.rows, n, out.pointer, out.stride]);
  },
  { strided: true },
);
