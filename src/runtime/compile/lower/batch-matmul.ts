/**
 * @file Lowerings of products per example, and of all inner rows with a shared matrix.
 *
 * Rows that lie end to end make one tall matrix of all inner rows of a slice, which is a plain matrix product. Where
 * the rows of an example are part of wider ones, each example has a product of its own.
 */
import type { Tensor } from '../../../graph/graph.js';
import { BatchMatMul, MatMulInner, MatMulInnerGrad } from '../../../graph/ops/batch-matmul.js';
import { MATMUL_SHAPE, MATMUL_SHAPE_WORDS, wordsOf } from '../../../memory/record-layout.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, type Matrix, registerLowering } from '../lowering.js';

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
    const { groups, m, n, k, a: left, b: right, c: to } = op.attrs;
    const [a, b] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const c = context.output(op.output);
    const shape = writeShape(context, {
      ...{ groups, m, n, k, cGroup: to.group, cRow: to.row },
      ...{ aGroup: left.group, aRow: left.row, aCol: left.col },
      ...{ bGroup: right.group, bRow: right.row, bCol: right.col },
    });
    context.emit(KERNEL.batchMatMulF32, { a, b, c, rows: context.rows, shape, acc: c.accumulate });
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
    context.emit(KERNEL.multiplyU32, { a: context.rows, b: context.slice.constant(perExample) }, rows);
    return rows;
  });
}

function isContiguous(context: LoweringContext, tensor: Tensor): boolean {
  const storage = context.storage(tensor);
  return (storage.kind === 'slice' || storage.kind === 'feed') && storage.stride === storage.columns;
}

/** The tensor with its rows end to end; a copy where they are not. */
function contiguous(context: LoweringContext, tensor: Tensor): Matrix {
  const src = context.matrix(tensor);
  if (isContiguous(context, tensor)) return src;
  const { slice } = context;
  const { pointer } = context.perSlice(context.plan.sliceRows * tensor.columns * 4, `rows of ${tensor.name}`);
  const cols = slice.constant(tensor.columns);
  const dst = { pointer, stride: cols, columns: tensor.columns };
  context.emit(KERNEL.copyRowsF32, { src, dst, rows: context.rows, cols, acc: slice.constant(0) });
  return dst;
}

registerLowering(
  MatMulInner,
  (op, context) => {
    const [x, w] = op.inputs as [Tensor, Tensor];
    const { slice } = context;
    const [d, k] = [x.spec.shape.at(-1) as number, op.output.spec.shape.at(-1) as number];
    const perExample = x.columns / d;
    const c = context.output(op.output);
    const [wRow, wCol] = op.attrs.transposeB ? [1, d] : [k, 1];
    if (!isContiguous(context, x) || !isContiguous(context, op.output)) {
      const shape = writeShape(context, {
        ...{ groups: 1, m: perExample, n: k, k: d, aGroup: 0, aRow: d, aCol: 1 },
        ...{ bGroup: 0, bRow: wRow, bCol: wCol, cGroup: 0, cRow: k },
      });
      const shared = { pointer: context.pointer(w), stride: slice.constant(0) };
      const a = context.matrix(x);
      context.emit(KERNEL.batchMatMulF32, { a, b: shared, c, rows: context.rows, shape, acc: c.accumulate });
      return;
    }
    const scratch = context.environment.kernels.gemmScratchBytes(context.plan.sliceRows * perExample, k, d);
    const [rowStride, columnStride] = [slice.constant(wRow), slice.constant(wCol)];
    context.emit(KERNEL.gemmF32, {
      a: { pointer: context.matrix(x).pointer, rowStride: slice.constant(d), columnStride: slice.constant(1) },
      b: { pointer: context.pointer(w), rowStride, columnStride },
      c: { pointer: c.pointer, stride: slice.constant(k) },
      m: innerRows(context, perExample),
      n: slice.constant(k),
      k: slice.constant(d),
      acc: c.accumulate,
      scratch: context.scratch(scratch),
    });
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
  context.emit(KERNEL.gemmF32, {
    a: { pointer: contiguous(context, x).pointer, rowStride: one, columnStride: slice.constant(d) },
    b: { pointer: contiguous(context, grad).pointer, rowStride: slice.constant(k), columnStride: one },
    c: { pointer: context.pointer(op.output), stride: slice.constant(k) },
    m: slice.constant(d),
    n: slice.constant(k),
    k: innerRows(context, perExample),
    acc: slice.constant(0),
    scratch: context.scratch(scratch),
  });
});
