/** @file The partitions of tables that each thread of a pool owns in a step. */
import { PARTITIONS } from '../../memory/table-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext } from '../../runtime/compile/lowering.js';

/** From `first` to `end`, in thread code. */
export function threadShares({ thread, plan }: LoweringContext): { readonly first: Register; readonly end: Register } {
  const share = (index: number) => Math.floor((PARTITIONS * index) / plan.threads);
  return { first: thread.each(share), end: thread.each((index) => share(index + 1)) };
}
