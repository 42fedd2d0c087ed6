/**
 * @file Lowerings of products per example, and of all inner rows with a shared matrix.
 *
 * Rows that lie end to end make one tall matrix of all inner rows of a slice, which is a plain matrix product. Where the
 * rows of an example are part of wider ones, each example has a product of its own.
 */
import type { Tensor } from '../../../graph/graph.js';
import { BatchMatMul, MatMulInner, MatMulInnerGrad } from '../../../graph/ops/batch-matmul.js';
import { MATMUL_SHAPE, MATMUL_SHAPE_WORDS, wordsOf } from '../../../memory/record-layout.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, type Matrix, operands, registerLowering } from '../lowering.js';

/** Writes the `shape` of batchMatMulF32. */
function writeShape(context: LoweringContext, shape: Readonly<Record<keyof typeof MATMUL_SHAPE, number>>): Register {
  const words = wordsOf(MATMUL_SHAPE, MATMUL_SHAPE_WORDS, shape);
  const at = context.alloc(words.length * 4, 'shape');
  context.environment.views.u32.set(words, at / 4);
  return context.slice.constant(at);
}

registerLowering(
  BatchMatMul,
  (op, context) => {
    const { groups, m, n, k, a, b, c } = op.attrs;
    const [x, y] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const out = context.output(op.output);
    const shape = writeShape(context, {
      ...{ groups, m, n, k, cGroup: c.group, cRow: c.row },
      ...{ aGroup: a.group, aRow: a.row, aCol: a.col, bGroup: b.group, bRow: b.row, bCol: b.col },
    });
    context.emit(KERNEL.batchMatMulF32, [...operands(x, y, out), context.rows, shape, out.accumulate]);
  },
  { accumulates: true },
);

const innerRowKeys = new Map<number, object>();

/** Register of the number of inner rows of a slice: `perExample` for each example. */
function innerRows(context: LoweringContext, perExample: number): Register {
  let key = innerRowKeys.get(perExample);
  if (key === undefined) {
    key = {};
    innerRowKeys.set(perExample, key);
  }
  return context.shared(key, () => {
    const rows = context.slice.each();
    context.emit(KERNEL.multiplyU32, [context.rows, context.slice.constant(perExample)], rows);
    return rows;
  });
}

function isContiguous(context: LoweringContext, tensor: Tensor): boolean {
  const storage = context.storage(tensor);
  return (storage.kind === 'slice' || storage.kind === 'feed') && storage.stride === storage.columns;
}

/** The tensor with its rows end to end; a copy where they are not. */
function contiguous(context: LoweringContext, tensor: Tensor): Matrix {
  const matrix = context.matrix(tensor);
  if (isContiguous(context, tensor)) return matrix;
  const { slice } = context;
  const { pointer } = context.perSlice(context.plan.sliceRows * tensor.columns * 4, `rows of ${tensor.name}`);
  const columns = slice.constant(tensor.columns);
  const copy = { pointer, stride: columns, columns: tensor.columns };
  context.emit(KERNEL.copyRowsF32, [...operands(matrix, copy), context.rows, columns, slice.constant(0)]);
  return copy;
}

registerLowering(
  MatMulInner,
  (op, context) => {
    const [x, w] = op.inputs as [Tensor, Tensor];
    const { slice } = context;
    const [d, k] = [x.spec.shape.at(-1) as number, op.output.spec.shape.at(-1) as number];
    const perExample = x.columns / d;
    const out = context.output(op.output);
    const [wRow, wCol] = op.attrs.transposeB ? [1, d] : [k, 1];
    if (!isContiguous(context, x) || !isContiguous(context, op.output)) {
      const shape = writeShape(context, {
        ...{ groups: 1, m: perExample, n: k, k: d, aGroup: 0, aRow: d, aCol: 1 },
        ...{ bGroup: 0, bRow: wRow, bCol: wCol, cGroup: 0, cRow: k },
      });
      const shared = { pointer: context.pointer(w), stride: slice.constant(0), columns: 0 };
      const matrices = operands(context.matrix(x), shared, out);
      context.emit(KERNEL.batchMatMulF32, [...matrices, context.rows, shape, out.accumulate]);
      return;
    }
    const scratch = context.environment.kernels.gemmScratchBytes(context.plan.sliceRows * perExample, k, d);
    context.emit(KERNEL.gemmF32, [
      ...[context.matrix(x).pointer, slice.constant(d), slice.constant(1)],
      ...[context.pointer(w), slice.constant(wRow), slice.constant(wCol)],
      ...[out.pointer, slice.constant(k)],
      ...[innerRows(context, perExample), slice.constant(k), slice.constant(d)],
      ...[out.accumulate, context.scratch(scratch)],
    ]);
  },
  { accumulates: true },
);

registerLowering(MatMulInnerGrad, (op, context) => {
  const [x, grad] = op.inputs as [Tensor, Tensor];
  const { slice } = context;
  const [d, k] = [x.spec.shape.at(-1) as number, grad.spec.shape.at(-1) as number];
  const perExample = x.columns / d;
  context.allocate(op.output);
  const scratch = context.environment.kernels.gemmScratchBytes(d, k, context.plan.sliceRows * perExample);
  const one = slice.constant(1);
  context.emit(KERNEL.gemmF32, [
    ...[contiguous(context, x).pointer, one, slice.constant(d)],
    ...[contiguous(context, grad).pointer, slice.constant(k), one],
    ...[context.pointer(op.output), slice.constant(k)],
    ...[slice.constant(d), slice.constant(k), innerRows(context, perExample)],
    ...[slice.constant(0), context.scratch(scratch)],
  ]);
});
