/** @file Lowerings of norms over several tensors and of clipping by them: thread code over ranges, slice code over rows. */
import { misfit, type Tensor } from '../../../graph/graph.js';
import { ClipByValue, ClipToNorm, RootOfSum, RowSquares, SQUARES_GRAIN, SumSquares } from '../../../graph/ops/clip.js';
import { KERNEL } from '../../kernels/kernels.js';
import { COMPLETED_GRAIN, type LoweringContext, operands, registerLowering } from '../lowering.js';

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

registerLowering(RowSquares, (op, context) => {
  const { slice, plan } = context;
  const { pointer, stride, columns } = context.matrix(op.inputs[0]!);
  // One after the other, so that they can be added up as the sums of grains are.
  const base = context.alloc(8 * plan.slices, 'squares');
  context.setStorage(op.output, { kind: 'global', base, count: 2 * plan.slices });
  const own = slice.each((index) => base + 8 * index);
  context.emit(KERNEL.rowSquaresF64, [pointer, stride, context.rows, slice.constant(columns), own]);
});

registerLowering(
  RootOfSum,
  (op, context) => {
    const { thread, plan } = context;
    const parts = op.inputs.map((input) => context.storage(input) as { base: number; count: number });
    const norm = context.allocateCopies(op.output);
    if (parts.length === 1) {
      const [{ base, count }] = parts as [(typeof parts)[number]];
      context.emitThread(KERNEL.rootOfSumF32, [thread.constant(base), thread.constant(count / 2), norm]);
      return;
    }
    const bytes = Math.ceil((8 * parts.length) / 64) * 64;
    const sums = context.alloc(bytes * plan.threads, 'sums of squares');
    parts.forEach(({ base, count }, i) => {
      const own = thread.each((index) => sums + index * bytes + 8 * i);
      context.emitThread(KERNEL.sumF64, [thread.constant(base), thread.constant(count / 2), own]);
    });
    const own = thread.each((index) => sums + index * bytes);
    context.emitThread(KERNEL.rootOfSumF32, [own, thread.constant(parts.length), norm]);
  },
  { phase: { runs: 'threads', gives: 'copy' } },
);

registerLowering(
  ClipToNorm,
  (op, context) => {
    const [x, norm] = op.inputs as [Tensor, Tensor];
    if (x.perExample) {
      const { slice } = context;
      const [from, to] = [context.matrix(x), context.output(op.output)];
      const limit = slice.constantF32(op.attrs.clipNorm);
      const [source, target] = [operands(from), operands(to)];
      const size = [context.rows, slice.constant(to.columns)];
      context.emit(KERNEL.clipRowsToNormF32, [...source, context.pointer(norm), ...target, ...size, limit]);
      return;
    }
    const range = context.threadRange(x.columns);
    const out = range.at(context.allocateGlobal(op.output).base);
    const limit = context.thread.constantF32(op.attrs.clipNorm);
    const values = range.at(baseOf(context, x));
    context.emitThread(KERNEL.clipToNormF32, [values, context.threadPointer(norm), out, range.floats, limit]);
  },
  {
    phase: ({ inputs: [x] }) =>
      x!.perExample ? { runs: 'slices' } : { runs: 'threads', reads: 'range', gives: 'range' },
  },
);

registerLowering(
  ClipByValue,
  (op, context) => {
    const { thread } = context;
    const range = context.threadRange(op.output.columns);
    const out = range.at(context.allocateGlobal(op.output).base);
    const limits = [thread.constantF32(op.attrs.low), thread.constantF32(op.attrs.high)];
    context.emitThread(KERNEL.clipValueF32, [range.at(baseOf(context, op.inputs[0]!)), out, range.floats, ...limits]);
  },
  { phase: { runs: 'threads', reads: 'range', gives: 'range' } },
);
