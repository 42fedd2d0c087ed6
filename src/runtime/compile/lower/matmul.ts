/** @file Lowering of matrix products. */
import type { Dim, Tensor } from '../../../graph/graph.js';
import { MatMul, type MatMulAttrs } from '../../../graph/ops/matmul.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, registerLowering } from '../lowering.js';
import type { MatrixRegisters, StridedRegisters } from '../registers.js';
import { multiplyDistinct } from './matmul-distinct.js';

interface Side extends StridedRegisters {
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
    if (multiplyDistinct(op, context)) return;
    const a = side(context, op.inputs[0]!, op.attrs.transposeA);
    // When columns of the product are all that is wanted, they are all that is made.
    const part = context.partsOf(op.output)?.[0];
    const b = side(context, op.inputs[1]!, op.attrs.transposeB, part?.attrs.start);
    const scratch = context.scratch(scratchBytes(context, op.inputs, op.attrs));
    let c: MatrixRegisters & { readonly accumulate: Register };
    if (op.output.perExample) c = context.output(part?.output ?? op.output);
    else {
      context.allocate(op.output);
      const stride = context.slice.constant(op.output.spec.shape[1] as number);
      c = { pointer: context.pointer(op.output), stride, accumulate: context.slice.constant(0) };
    }
    context.emit(KERNEL.gemmF32, {
      a,
      b,
      c,
      m: a.rows,
      n: part === undefined ? b.columns : context.slice.constant(part.output.columns),
      k: a.columns,
      acc: c.accumulate,
      scratch,
    });
  },
  { accumulates: true, spreads: (op, parts) => parts.length === 1 && !op.inputs[1]!.perExample },
);
