/** @file Lowerings of elementwise ops of two operands, of sums of many, and of factors. */
import type { Op } from '../../../graph/graph.js';
import { AddN, Binary, Mul, Scale, Sub } from '../../../graph/ops/elementwise.js';
import { BINARY_KIND } from '../../../memory/kinds.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, registerLowering } from '../lowering.js';
import { repeated, target } from './broadcast.js';

registerLowering(
  Binary,
  (op, context) => {
    const { shape } = op.output.spec;
    const [a, b] = op.inputs.map((input) => repeated(context, input, shape));
    const { dst, size } = target(context, op.output);
    const kind = context.slice.constant(BINARY_KIND[op.attrs.kind]);
    context.emit(KERNEL.binaryF32, { kind, a: a!, b: b!, dst, ...size });
  },
  { strided: true },
);

registerLowering(AddN, (op, context) => {
  const dst = context.matrixOf(context.allocate(op.output));
  for (const term of op.inputs) {
    if (context.isPlaced(term, op.output)) continue;
    const acc = context.slice.constant(context.startSum(op.output) ? 1 : 0);
    context.emit(KERNEL.copyRowsF32, { src: context.matrix(term), dst, ...context.sizeOf(op.output), acc });
  }
});

/** Operands of a kernel that takes two matrices of the size of its output. */
function zipped(op: Op<unknown>, context: LoweringContext) {
  const [a, b] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
  const dst = context.output(op.output);
  return { a, b, dst, ...context.sizeOf(op.output), acc: dst.accumulate };
}

registerLowering(Sub, (op, context) => context.emit(KERNEL.subF32, zipped(op, context)), { accumulates: true });
registerLowering(Mul, (op, context) => context.emit(KERNEL.mulF32, zipped(op, context)), { accumulates: true });

registerLowering(
  Scale,
  (op, context) => {
    const src = context.matrix(op.inputs[0]!);
    const dst = context.output(op.output);
    const factor = context.slice.constantF32(op.attrs.factor);
    context.emit(KERNEL.scaleF32, { src, dst, ...context.sizeOf(op.output), factor, acc: dst.accumulate });
  },
  { accumulates: true },
);
