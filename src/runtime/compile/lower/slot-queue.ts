/** @file Lowering of what is taken out of a queue between steps: a copy that is made before the updates of the step. */
import { Dequeue } from '../../../graph/slot-queue.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';

registerLowering(
  Dequeue,
  (op, context) => {
    const { thread } = context;
    const { at, floats } = context.threadRange(op.output.columns);
    context.emitThread(KERNEL.copyRowsF32, {
      src: { pointer: at(context.environment.variable(op.inputs[0]!)), stride: floats },
      dst: { pointer: at(context.allocateGlobal(op.output).base), stride: floats },
      rows: thread.constant(1),
      cols: floats,
      acc: thread.constant(0),
    });
  },
  { phase: { runs: 'threads', gives: 'range' } },
);
