/** @file The update of a table in a step: rows are stepped by the sums of their gradients over all slices. */
import type { Tensor } from '../../graph/graph.js';
import { APPLY_SLICE_BYTES, PARTITIONS, TIME_UNKNOWN } from '../../memory/table-layout.js';
import { TOUCHED_SCRATCH_BYTES } from '../../memory/touched-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext, PerLease } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';
import { lowerAsk, lowerFind } from './found-rows.js';
import type { GradientSums } from './gradient-sums.js';
import { lowerRequestTime } from './request-time.js';
import type { TableGroup } from './table-group.js';
import { threadShares } from './thread-shares.js';

/** What a kernel steps rows by: records of slices, or one of the whole batch. */
interface Records {
  readonly slices: Register;
  readonly sliceCount: Register;
  /** Ids that they can have together. */
  readonly capacity: number;
}

/** Steps the rows of a table by the sums of gradients of its ids, as its step is: in one piece, cut, or served. */
export function lowerApply(
  context: LoweringContext,
  group: TableGroup,
  sums: GradientSums,
  time: Tensor | undefined,
): void {
  const { routed, banked } = group;
  if (group.leased !== undefined) group.leased.times = time && lowerRequestTime(context, time).latest;
  if (routed !== undefined) {
    routed.merge(sums);
    const { filter } = group.gate;
    const slices = context.inPart('push', () => routed.lowerFind(filter));
    if (filter !== undefined) context.inPart('push', () => routed.lowerCounts(group.trained), 2);
    const { thread, plan } = context;
    const merged = { slices, sliceCount: thread.constant(1), capacity: group.capacity * plan.slices };
    const counted = filter && ofSlices(context, group, sums);
    context.inPart('push', () => lowerSteps(context, group, { merged, counted, time }), filter === undefined ? 0 : 2);
    return;
  }
  if (context.cut !== undefined) context.pushed.push(sums);
  context.inPart('push', () => {
    const found = context.cut === undefined || banked !== undefined ? group : foundAgain(context, group);
    const merged = ofSlices(context, found, sums);
    lowerSteps(context, group, { merged, counted: merged, time });
  });
}

/** A cut step has copies of rows: those to step are found, and the filter asked, when the gradients are there. */
function foundAgain(context: LoweringContext, group: TableGroup): TableGroup {
  const slots = context.perLease(group.capacity * 4, 'slots');
  lowerFind(context, group, group.trained, slots);
  lowerAsk(context, group, slots.pointer);
  return { ...group, slots };
}

/** Where the records of slices are that kernels of updates take: a list for each lease. */
function ofSlices(context: LoweringContext, group: TableGroup, sums: PerLease): Records {
  const { thread, plan, leases } = context;
  // A table in another memory needs no owners of partitions.
  const { order, offsets } = group.owners ?? {};
  const records = context.alloc(APPLY_SLICE_BYTES * plan.slices * leases, 'slices');
  for (let s = 0; s < plan.slices * leases; s++) {
    const [slice, lease] = [s % plan.slices, Math.floor(s / plan.slices)];
    const at = (part: PerLease | undefined) => part?.at(slice, lease) ?? 0;
    const words = [
      ...[group.ids, order, offsets, group.rows, sums].map(at),
      Math.ceil(group.table.dim / 4) * 4,
      at(group.slots),
      at(group.counts),
    ];
    context.environment.views.u32.set(words, (records + s * APPLY_SLICE_BYTES) / 4);
  }
  const slices = thread.each((_, lease) => records + lease * plan.slices * APPLY_SLICE_BYTES);
  return { slices, sliceCount: thread.constant(plan.slices), capacity: group.capacity * plan.slices };
}

interface Steps {
  readonly merged: Records;
  /** In the order that ids came, which filters go by. */
  readonly counted: Records | undefined;
  readonly time: Tensor | undefined;
}

function lowerSteps(context: LoweringContext, group: TableGroup, { merged, counted, time }: Steps): void {
  const { thread, plan } = context;
  const shares = threadShares(context);
  const { filter, touched } = group.gate;
  const timeSec = time === undefined ? thread.constant(TIME_UNKNOWN) : lowerRequestTime(context, time).latestOfBatch;
  if (filter !== undefined && counted !== undefined) {
    // Cells of a filter go to who comes first: one thread counts for all, or results would depend on their number.
    context.emitThread(KERNEL.filterCount, {
      partitions: thread.constant(PARTITIONS),
      filter: thread.constant(filter.pointer),
      thresholds: thread.constant(filter.thresholds),
      slices: counted.slices,
      sliceCount: thread.each((index) => (index === 0 ? plan.slices : 0)),
    });
  }
  if (group.banked !== undefined) {
    group.banked.apply(shares.first, shares.end, merged.slices, timeSec);
    return;
  }
  const { slices, sliceCount } = merged;
  const updates = { table: thread.constant(group.table.address), ...shares, slices, sliceCount };
  if (filter !== undefined) context.emitThread(KERNEL.tableAdmit, updates);
  const rowBytes = Math.ceil((merged.capacity * 4) / 64) * 64;
  const rows = context.alloc(rowBytes * plan.threads, 'merged rows');
  const own = thread.each((index) => rows + index * rowBytes);
  context.emitThread(KERNEL.tableApply, { ...updates, merged: own, timeSec }, { checked: true });
  if (touched === undefined) return;
  const ids = group.routed === undefined ? group.capacity : merged.capacity;
  const bufferBytes = Math.ceil((TOUCHED_SCRATCH_BYTES + ids * 8) / 64) * 64;
  const buffers = context.alloc(bufferBytes * plan.threads, 'touched ids');
  context.emitThread(
    KERNEL.tableTouch,
    {
      ...updates,
      set: thread.constant(touched.pointer),
      tableIndex: thread.constant(touched.tableIndex),
      buffer: thread.each((index) => buffers + index * bufferBytes),
    },
    { checked: true },
  );
}
