/** @file A thread's range of a value that is to be applied to a variable, in thread code. */
import { misfit, type Tensor } from '../graph/graph.js';
import type { Register } from './code.js';
import { KERNEL } from './kernels.js';
import type { LoweringContext } from './lowering.js';

/** Floats of a cache line: no two threads write the same one. */
const LINE_FLOATS = 16;

export interface OwnRange {
  /** Address of the range in something as large as the value. */
  at(base: number): Register;
  readonly floats: Register;
  /** Address of the value's range; not to be written to. */
  readonly values: Register;
}

/** This thread's range of a value: of a sum over the batch the slices' parts are added up first, in slice order. */
export function ownRange(context: LoweringContext, value: Tensor): OwnRange {
  const storage = context.storage(value);
  const { thread, plan } = context;
  const count = value.columns;
  if (storage.kind === 'slice' || storage.kind === 'feed' || storage.kind === 'whole') {
    throw misfit(value, 'a value that all examples share is needed here');
  }
  if (storage.kind !== 'partial') {
    const range = context.threadRange(count);
    // Of equal copies any will do, and those of the first slice or thread begin at the base.
    return { ...range, values: range.at(storage.base) };
  }
  const range = context.threadRange(count, LINE_FLOATS);
  const values = range.at(context.alloc(count * 4, 'completed sum'));
  context.emitThread(KERNEL.reduceSlicesF32, [
    range.at(storage.base),
    thread.constant(storage.sliceBytes / 4),
    thread.constant(plan.slices),
    values,
    range.floats,
  ]);
  return { ...range, values };
}
