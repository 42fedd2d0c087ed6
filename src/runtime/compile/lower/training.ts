/** @file Lowerings of what differs between training and evaluation: dropout, and one value or another. */
import { hashU32 } from '../../../base/random.js';
import { Dropout, IfTraining } from '../../../graph/ops/training.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';

/** The one that is used, under another name. */
registerLowering(
  IfTraining,
  (op, context) => {
    context.setStorage(op.output, context.storage(op.inputs[context.trains ? 0 : 1]!));
  },
  { phase: { runs: 'nothing' } },
);

registerLowering(
  Dropout,
  (op, context) => {
    const [input, step] = op.inputs;
    const { rate, seed, training } = op.attrs;
    const { slice, environment } = context;
    const x = context.matrix(input!);
    const y = context.output(op.output);
    const size = context.sizeOf(op.output);
    if (!(training ?? context.trains) || rate === 0) {
      context.emit(KERNEL.copyRowsF32, { src: x, dst: y, ...size, acc: y.accumulate });
      return;
    }
    context.emit(KERNEL.dropoutF32, {
      x,
      y,
      ...size,
      first: context.firstRow,
      step: slice.constant(environment.variable(step!)),
      seed: slice.constant(hashU32(environment.seed, seed)),
      drop: slice.constant(Math.round(rate * 2 ** 32) >>> 0),
      scale: slice.constantF32(1 / (1 - rate)),
      acc: y.accumulate,
    });
  },
  { accumulates: true },
);
