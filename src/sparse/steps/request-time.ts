/**
 * @file The time of a batch, which becomes that of the rows it updates: the latest of its examples' request times, as
 * `max(req_time)` of native_training. Rows of a batch without one are as of the latest update of their table.
 */
import { misfit, type Op, type Tensor } from '../../graph/graph.js';
import { TIME_UNKNOWN } from '../../memory/table-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext, PerLease } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';

/** The request time of a batch. */
export interface BatchTime {
  /** i64: the latest of each slice. */
  readonly latest: PerLease;
  /** In thread code: the latest of all slices, or that it is not known. */
  readonly latestOfBatch: Register;
}

/** Finds the time of the batch, once for all tables that go by it. */
export function lowerRequestTime(context: LoweringContext, time: Tensor): BatchTime {
  const { thread, plan } = context;
  // Ops are lowered in the order they run: what the first table needs is there for those after it.
  return context.shared(time, () => {
    context.noteTimes(time);
    const latest = context.perLease(8, 'latest request time');
    // The batch may be gone when gradients are pushed.
    context.inPart('ids', () => {
      context.emit(KERNEL.maxI64, { src: context.matrix(time), rows: context.rows, dst: latest.pointer });
    });
    const latestOfBatch = thread.each(() => TIME_UNKNOWN);
    const first = thread.each((_, lease) => latest.at(0, lease));
    const parts = { parts: first, sliceStride: thread.constant(latest.sliceBytes) };
    context.inPart('push', () => {
      const slices = thread.constant(plan.slices);
      context.emitThread(KERNEL.latestOfSlices, { ...parts, slices }, { result: latestOfBatch });
    });
    return { latest, latestOfBatch };
  });
}

/** The one time that the updates of a table go by. */
export function sharedRequestTime(updates: readonly Op[], timeOf: (op: Op) => Tensor | undefined): Tensor | undefined {
  const times = new Set(updates.flatMap((op) => timeOf(op) ?? []));
  if (times.size > 1) throw misfit(updates[0]!, 'the updates of its table go by different request times');
  return [...times][0];
}
