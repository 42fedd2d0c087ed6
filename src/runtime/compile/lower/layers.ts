/** @file Lowerings of biases, activations and the loss. */
import type { Op, OpDef, Tensor } from '../../../graph/graph.js';
import { Activation, ActivationGrad, type ActivationKind } from '../../../graph/ops/activations.js';
import { SigmoidCrossEntropy, SigmoidCrossEntropyGrad } from '../../../graph/ops/losses.js';
import { MatMul } from '../../../graph/ops/matmul.js';
import { AddBias, SumRows } from '../../../graph/ops/rows.js';
import { KERNEL, type Kernel } from '../../kernels/kernels.js';
import { type LoweringContext, operands, pairwise, registerLowering } from '../lowering.js';

/** Whether only a relu uses the sum: one walk then does both. */
function isRectified(context: LoweringContext, { output }: Op<unknown>): boolean {
  const user = context.onlyUserOf(output);
  return user?.def === (Activation as OpDef<unknown>) && (user as Op<{ kind: ActivationKind }>).attrs.kind === 'relu';
}

/** Writes over a product that nobody else reads, rather than beside it. */
function reuseProduct(context: LoweringContext, product: Tensor, output: Tensor): void {
  if (product.op.def === (MatMul as OpDef<unknown>)) context.writeOver(product, output);
}

registerLowering(
  AddBias,
  (op, context) => {
    if (isRectified(context, op)) return;
    const x = context.matrix(op.inputs[0]!);
    const out = context.output(op.output);
    context.emit(KERNEL.addBiasF32, [
      x.pointer,
      x.stride,
      context.pointer(op.inputs[1]!),
      out.pointer,
      out.stride,
      context.rows,
      context.slice.constant(out.columns),
    ]);
  },
  { strided: true },
);

registerLowering(SumRows, (op, context) => {
  const x = context.matrix(op.inputs[0]!);
  context.allocate(op.output);
  const { slice } = context;
  context.emit(KERNEL.sumRowsF32, [
    x.pointer,
    x.stride,
    context.pointer(op.output),
    context.rows,
    slice.constant(x.columns),
    slice.constant(0),
  ]);
});

const FORWARD: Record<ActivationKind, Kernel> = {
  relu: KERNEL.reluF32,
  sigmoid: KERNEL.sigmoidF32,
  tanh: KERNEL.tanhF32,
};
const BACKWARD: Record<ActivationKind, Kernel> = {
  relu: KERNEL.reluGradF32,
  sigmoid: KERNEL.sigmoidGradF32,
  tanh: KERNEL.tanhGradF32,
};

registerLowering(
  Activation,
  (op, context) => {
    const before = op.inputs[0]!.op;
    if (before.def === (AddBias as OpDef<unknown>) && isRectified(context, before)) {
      const [product, bias] = before.inputs as [Tensor, Tensor];
      reuseProduct(context, product, op.output);
      const x = context.matrix(product);
      const out = context.output(op.output);
      const columns = context.slice.constant(out.columns);
      const matrices = [...operands(x), context.pointer(bias), ...operands(out)];
      context.emit(KERNEL.biasReluF32, [...matrices, context.rows, columns]);
      return;
    }
    const out = context.output(op.output);
    const matrices = operands(context.matrix(op.inputs[0]!), out);
    context.emit(FORWARD[op.attrs.kind], [...matrices, context.rows, context.slice.constant(out.columns)]);
  },
  { strided: true },
);

registerLowering(
  ActivationGrad,
  (op, context) => {
    reuseProduct(context, op.inputs[0]!, op.output);
    pairwise(BACKWARD[op.attrs.kind])(op, context);
  },
  { accumulates: true },
);

registerLowering(
  SigmoidCrossEntropy,
  (op, context) => {
    const out = context.matrixOf(context.allocate(op.output));
    const matrices = operands(...op.inputs.map((input) => context.matrix(input)), out);
    context.emit(KERNEL.bceLogitsF32, [...matrices, context.rows]);
  },
  { strided: true },
);

registerLowering(
  SigmoidCrossEntropyGrad,
  (op, context) => {
    const out = context.output(op.output);
    const matrices = operands(...op.inputs.map((input) => context.matrix(input)), out);
    context.emit(KERNEL.bceLogitsGradF32, [...matrices, context.rows, out.accumulate]);
  },
  { accumulates: true },
);
