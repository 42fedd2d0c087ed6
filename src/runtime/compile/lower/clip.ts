/**
 * @file Lowerings of norms over several tensors and of clipping by them: thread code over ranges, slice code over rows.
 */
import { misfit, type Tensor } from '../../../graph/graph.js';
import { ClipByValue, ClipToNorm, RootOfSum, RowSquares, SQUARES_GRAIN, SumSquares } from '../../../graph/ops/clip.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, registerLowering } from '../lowering.js';
import { COMPLETED_GRAIN } from '../program-code.js';

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
    let at = context.allocateGlobal(op.output).base;
    for (const input of op.inputs) {
      const range = context.threadRange(input.columns);
      context.emitThread(KERNEL.sumSquaresF64, {
        src: range.at(baseOf(context, input)),
        count: range.floats,
        grain: thread.constant(SQUARES_GRAIN),
        dst: context.threadRange(input.columns, SQUARES_GRAIN, 8 / SQUARES_GRAIN).at(at),
      });
      at += 8 * Math.ceil(input.columns / SQUARES_GRAIN);
    }
  },
  { phase: { runs: 'threads', reads: 'ranges' } },
);

registerLowering(RowSquares, (op, context) => {
  const { slice, plan } = context;
  const src = context.matrix(op.inputs[0]!);
  // One after the other, so that they can be added up as the sums of grains are.
  const base = context.alloc(8 * plan.slices, 'squares');
  context.setStorage(op.output, { kind: 'global', base, count: 2 * plan.slices });
  const dst = slice.each((index) => base + 8 * index);
  context.emit(KERNEL.rowSquaresF64, { src, rows: context.rows, cols: slice.constant(src.columns), dst });
});

registerLowering(
  RootOfSum,
  (op, context) => {
    const { thread, plan } = context;
    const parts = op.inputs.map((input) => {
      const { base, count } = context.storage(input) as { base: number; count: number };
      return { src: thread.constant(base), count: thread.constant(count / 2) };
    });
    const dst = context.allocateCopies(op.output);
    if (parts.length === 1) {
      context.emitThread(KERNEL.rootOfSumF32, { ...parts[0]!, dst });
      return;
    }
    const bytes = Math.ceil((8 * parts.length) / 64) * 64;
    const sums = context.alloc(bytes * plan.threads, 'sums of squares');
    const sum = (i: number) => thread.each((index) => sums + index * bytes + 8 * i);
    parts.forEach((part, i) => {
      context.emitThread(KERNEL.sumF64, { ...part, dst: sum(i) });
    });
    context.emitThread(KERNEL.rootOfSumF32, { src: sum(0), count: thread.constant(parts.length), dst });
  },
  { phase: { runs: 'threads', gives: 'copy' } },
);

registerLowering(
  ClipToNorm,
  (op, context) => {
    const [x, norm] = op.inputs as [Tensor, Tensor];
    if (x.perExample) {
      context.emit(KERNEL.clipRowsToNormF32, {
        src: context.matrix(x),
        norm: context.pointer(norm),
        dst: context.output(op.output),
        ...context.sizeOf(op.output),
        clipNorm: context.slice.constantF32(op.attrs.clipNorm),
      });
      return;
    }
    const range = context.threadRange(x.columns);
    context.emitThread(KERNEL.clipToNormF32, {
      src: range.at(baseOf(context, x)),
      norm: context.threadPointer(norm),
      dst: range.at(context.allocateGlobal(op.output).base),
      count: range.floats,
      clipNorm: context.thread.constantF32(op.attrs.clipNorm),
    });
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
    context.emitThread(KERNEL.clipValueF32, {
      src: range.at(baseOf(context, op.inputs[0]!)),
      dst: range.at(context.allocateGlobal(op.output).base),
      n: range.floats,
      low: thread.constantF32(op.attrs.low),
      high: thread.constantF32(op.attrs.high),
    });
  },
  { phase: { runs: 'threads', reads: 'range', gives: 'range' } },
);
