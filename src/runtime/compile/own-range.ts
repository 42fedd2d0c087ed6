/** @file A thread's range of a value that is to be applied to a variable, in thread code. */
import { misfit, type Tensor } from '../../graph/graph.js';
import { KERNEL } from '../kernels/kernels.js';
import type { Register } from './code.js';
import type { LoweringContext, ThreadRange } from './lowering.js';

/** Floats of a cache line: no two threads write the same one. */
const LINE_FLOATS = 16;

export interface OwnRange extends ThreadRange {
  /** Address of the whole value, of which this thread's range is complete. */
  readonly base: number;
  /** Address of the value's range; not to be written to, unless that was asked for. */
  readonly values: Register;
}

export interface OwnRangeOptions {
  /** Default: as `rangeOf` gives it. */
  readonly range?: ThreadRange;
  /** Makes a copy of what others read too. */
  readonly writable?: boolean;
}

/** The range of a value that each thread has: of a sum whole cache lines, of what is complete the grain others use. */
export function rangeOf(context: LoweringContext, value: Tensor): ThreadRange {
  return context.threadRange(value.columns, value.spec.partial ? LINE_FLOATS : undefined);
}

/** This thread's range of a value: of a sum over the batch the slices' parts are added up first, in slice order. */
export function ownRange(context: LoweringContext, value: Tensor, options: OwnRangeOptions = {}): OwnRange {
  const { range = rangeOf(context, value), writable = false } = options;
  const storage = context.storage(value);
  const { thread, plan } = context;
  if (storage.kind === 'slice' || storage.kind === 'feed' || storage.kind === 'whole') {
    throw misfit(value, 'a value that all examples share is needed here');
  }
  // Of equal copies any will do, and those of the first slice or thread begin at the base.
  const from = range.at(storage.base);
  if (storage.kind !== 'partial' && !writable) return { ...range, base: storage.base, values: from };
  const base = context.alloc(value.columns * 4, 'completed sum');
  const values = range.at(base);
  if (storage.kind === 'partial') {
    context.emitThread(KERNEL.reduceSlicesF32, {
      src: from,
      sliceStride: thread.constant(storage.sliceBytes / 4),
      slices: thread.constant(plan.slices),
      dst: values,
      n: range.floats,
    });
  } else {
    context.emitThread(KERNEL.copyRowsF32, {
      src: { pointer: from, stride: range.floats },
      dst: { pointer: values, stride: range.floats },
      rows: thread.constant(1),
      cols: range.floats,
      acc: thread.constant(0),
    });
  }
  return { ...range, base, values };
}
