/** @file Lowering of what is taken out of a queue between steps: a copy that is made before the updates of the step. */
import { Dequeue } from '../../../graph/slot-queue.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';

registerLowering(
  Dequeue,
  (op, context) => {
    const { thread } = context;
    const range = context.threadRange(op.output.columns);
    const from = range.at(context.environment.variable(op.inputs[0]!));
    const to = range.at(context.allocateGlobal(op.output).base);
    const sizes = [thread.constant(1), range.floats, thread.constant(0)];
    context.emitThread(KERNEL.copyRowsF32, [from, range.floats, to, range.floats, ...sizes]);
  },
  { phase: { runs: 'threads', gives: 'range' } },
);
