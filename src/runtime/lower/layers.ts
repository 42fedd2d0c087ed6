/** @file Lowerings of matrix products, biases, activations and the loss. */
import type { Dim, Op, OpDef, Tensor } from '../../graph/graph.js';
import {
  Activation,
  ActivationGrad,
  type ActivationKind,
  AddBias,
  MatMul,
  type MatMulAttrs,
  SigmoidCrossEntropy,
  SigmoidCrossEntropyGrad,
  SumRows,
} from '../../graph/ops/layers.js';
import type { Register } from '../code.js';
import { KERNEL, type Kernel } from '../kernels.js';
import { type LoweringContext, operands, pairwise, registerLowering } from '../lowering.js';

interface Side {
  readonly pointer: Register;
  readonly rowStride: Register;
  readonly columnStride: Register;
  readonly rows: Register;
  readonly columns: Register;
}

/** One operand of a product, transposed by swapping its strides; of weights the rows or columns from `from` on. */
function side(context: LoweringContext, tensor: Tensor, transpose: boolean, from = 0): Side {
  const { slice } = context;
  const one = slice.constant(1);
  const plain = tensor.perExample
    ? { ...context.matrix(tensor), rows: context.rows, columns: slice.constant(tensor.columns) }
    : {
        pointer: context.pointer(tensor, transpose ? from * (tensor.spec.shape[1] as number) : from),
        stride: slice.constant(tensor.spec.shape[1] as number),
        rows: slice.constant(tensor.spec.shape[0] as number),
        columns: slice.constant(tensor.spec.shape[1] as number),
      };
  const { pointer, stride, rows, columns } = plain;
  return transpose
    ? { pointer, rowStride: one, columnStride: stride, rows: columns, columns: rows }
    : { pointer, rowStride: stride, columnStride: one, rows, columns };
}

/** What the kernel needs to pack its operands, for the largest slice. */
function scratchBytes(context: LoweringContext, inputs: readonly Tensor[], attrs: MatMulAttrs): number {
  const size = (dim: Dim) => (dim === 'batch' ? context.plan.sliceRows : dim);
  const [a, b] = inputs.map((input) => input.spec.shape.map(size)) as [number[], number[]];
  const [m, k] = attrs.transposeA ? [a[1]!, a[0]!] : [a[0]!, a[1]!];
  return context.environment.kernels.gemmScratchBytes(m, attrs.transposeB ? b[0]! : b[1]!, k);
}

registerLowering(
  MatMul,
  (op, context) => {
    const a = side(context, op.inputs[0]!, op.attrs.transposeA);
    // When columns of the product are all that is wanted, they are all that is made.
    const part = context.partsOf(op.output)?.[0];
    const b = side(context, op.inputs[1]!, op.attrs.transposeB, part?.attrs.start);
    const scratch = context.perSlice(scratchBytes(context, op.inputs, op.attrs), 'scratch');
    let out: { pointer: Register; stride: Register; accumulate: Register };
    if (op.output.perExample) out = context.output(part?.output ?? op.output);
    else {
      context.allocate(op.output);
      const stride = context.slice.constant(op.output.spec.shape[1] as number);
      out = { pointer: context.pointer(op.output), stride, accumulate: context.slice.constant(0) };
    }
    context.emit(KERNEL.gemmF32, [
      a.pointer,
      a.rowStride,
      a.columnStride,
      b.pointer,
      b.rowStride,
      b.columnStride,
      out.pointer,
      out.stride,
      a.rows,
      part === undefined ? b.columns : context.slice.constant(part.output.columns),
      a.columns,
      out.accumulate,
      scratch.pointer,
    ]);
  },
  { accumulates: true, spreads: (op, parts) => parts.length === 1 && !op.inputs[1]!.perExample },
);

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
