/**
 * @file The time of a batch, which becomes that of the rows it updates: the latest of its examples' request times, as
 * `max(req_time)` of native_training. Rows of a batch without one are as of the latest update of their table.
 */
import { misfit, type Op, type Tensor } from '../../graph/graph.js';
import { TIME_UNKNOWN } from '../../memory/table-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';

/** ML_GRAPH unless `time` is a fed int64 for each example: the batch is looked over before the step. */
export function checkRequestTime(time: Tensor): Tensor {
  const { dtype, ragged = false } = time.spec;
  if (dtype === 'int64' && !ragged && time.perExample && time.columns === 1) return time;
  throw misfit(time.name, 'a request time is one int64 for each example, such as dense.i64() of a schema');
}

/** The register of thread code that holds the time of the batch from here on, or that it is not known. */
export function lowerRequestTime(context: LoweringContext, time: Tensor | undefined): Register {
  const { thread, plan } = context;
  if (time === undefined) return thread.constant(TIME_UNKNOWN);
  // Ops are lowered in the order they run: what the first table needs is there for those after it.
  return context.shared(time, () => {
    context.noteTimes(time);
    const latest = context.perLease(8, 'latest request time');
    // The batch may be gone when gradients are pushed.
    context.inPart('ids', () => {
      context.emit(KERNEL.maxI64, { src: context.matrix(time), rows: context.rows, dst: latest.pointer });
    });
    const result = thread.each(() => TIME_UNKNOWN);
    const first = thread.each((_, lease) => latest.at(0, lease));
    const parts = { parts: first, sliceStride: thread.constant(latest.sliceBytes) };
    context.emitThread(KERNEL.latestOfSlices, { ...parts, slices: thread.constant(plan.slices) }, { result });
    return result;
  });
}

/** The one time that the updates of a table go by. */
export function sharedRequestTime(updates: readonly Op[], timeOf: (op: Op) => Tensor | undefined): Tensor | undefined {
  const times = new Set(updates.flatMap((op) => timeOf(op) ?? []));
  if (times.size > 1) throw misfit(updates[0]!, 'the updates of its table go by different request times');
  return [...times][0];
}
