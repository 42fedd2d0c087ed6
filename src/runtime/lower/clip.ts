/** @file Lowerings of norms over several tensors and of clipping by them: thread code over ranges. */
import { misfit, type Tensor } from '../../graph/graph.js';
import { ClipToNorm, RootOfSum, SQUARES_GRAIN, SumSquares } from '../../graph/ops/clip.js';
import { KERNEL } from '../kernels.js';
import { COMPLETED_GRAIN, type LoweringContext, registerLowering } from '../lowering.js';

/** First address of a tensor that all examples share. Of equal copies those of the first slice or thread will do. */
function baseOf(context: LoweringContext, tensor: Tensor): number {
  const storage = context.storage(tensor);
  if (storage.kind === 'slice' || storage.kind === 'feed' || storage.kind === 'partial') {
    throw misfit(tensor, 'a value that all examples share is needed here');
  }
  return storage.base;
}

registerLowering(
  SumSquares,
  (op, context) => {
    // A thread's range is whole grains, so each grain is summed by one thread.
    if (COMPLETED_GRAIN !== SQUARES_GRAIN) throw new Error('ranges of threads must be whole grains');
    const { thread } = context;
    const grain = thread.constant(SQUARES_GRAIN);
    let at = context.allocateGlobal(op.output).base;
    for (const input of op.inputs) {
      const range = context.threadRange(input.columns);
      const sums = context.threadRange(input.columns, SQUARES_GRAIN, 8 / SQUARES_GRAIN).at(at);
      context.emitThread(KERNEL.sumSquaresF64, [range.at(baseOf(context, input)), range.floats, grain, sums]);
      at += 8 * Math.ceil(input.columns / SQUARES_GRAIN);
    }
  },
  { phase: { runs: 'threads', reads: 'ranges' } },
);

registerLowering(
  RootOfSum,
  (op, context) => {
    const { base, count } = context.storage(op.inputs[0]!) as { base: number; count: number };
    const norm = context.allocateCopies(op.output);
    context.emitThread(KERNEL.rootOfSumF32, [context.thread.constant(base), context.thread.constant(count / 2), norm]);
  },
  { phase: { runs: 'threads', gives: 'copy' } },
);

registerLowering(
  ClipToNorm,
  (op, context) => {
    const [x, norm] = op.inputs as [Tensor, Tensor];
    const range = context.threadRange(x.columns);
    const out = range.at(context.allocateGlobal(op.output).base);
    const limit = context.thread.constantF32(op.attrs.clipNorm);
    const values = range.at(baseOf(context, x));
    context.emitThread(KERNEL.clipToNormF32, [values, context.threadPointer(norm), out, range.floats, limit]);
  },
  { phase: { runs: 'threads', reads: 'range', gives: 'range' } },
);
