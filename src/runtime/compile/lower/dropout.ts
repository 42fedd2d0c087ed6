/** @file Lowerings of dropout and of division by a number of the batch. */
import { hashU32 } from '../../../base/random.js';
import { DivideByScalar } from '../../../graph/ops/reductions.js';
import { Dropout } from '../../../graph/ops/training.js';
import { KERNEL } from '../../kernels/kernels.js';
import { operands, registerLowering } from '../lowering.js';

registerLowering(
  Dropout,
  (op, context) => {
    const [input, step] = op.inputs;
    const { rate, seed, training } = op.attrs;
    const { slice, environment } = context;
    const x = context.matrix(input!);
    const out = context.output(op.output);
    if (!(training ?? context.trains) || rate === 0) {
      const sizes = [context.rows, slice.constant(out.columns)];
      context.emit(KERNEL.copyRowsF32, [...operands(x, out), ...sizes, out.accumulate]);
      return;
    }
    context.emit(KERNEL.dropoutF32, [
      ...operands(x, out),
      context.rows,
      slice.constant(out.columns),
      context.firstRow,
      slice.constant(environment.variable(step!)),
      slice.constant(hashU32(environment.seed, seed)),
      slice.constant(Math.round(rate * 2 ** 32) >>> 0),
      slice.constantF32(1 / (1 - rate)),
      out.accumulate,
    ]);
  },
  { accumulates: true },
);

registerLowering(
  DivideByScalar,
  (op, context) => {
    const [x, divisor] = [context.matrix(op.inputs[0]!), context.pointer(op.inputs[1]!)];
    const out = context.output(op.output);
    const sizes = [context.rows, context.slice.constant(out.columns)];
    context.emit(KERNEL.divideByScalarF32, [...operands(x), divisor, ...operands(out), ...sizes, out.accumulate]);
  },
  { accumulates: true },
);
