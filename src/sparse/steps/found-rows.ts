/** @file The unique ids of a slice at their table: where rows are, what lookups show of them, whose they are. */
import { LOOKUP_SCRATCH_BYTES, PARTITIONS } from '../../memory/table-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext, PerLease } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';
import type { HashTable } from '../table/hash-table.js';
import type { StepGate } from './step-gate.js';

/** Ids by the partition that owns them. */
export interface Owners {
  readonly order: PerLease;
  readonly offsets: PerLease;
}

/** Rows and slots of the first `count` unique ids. */
export function lowerFind(
  context: LoweringContext,
  { table, ids, rows }: { readonly table: HashTable; readonly ids: PerLease; readonly rows: PerLease },
  count: Register,
  slots: PerLease | undefined,
): void {
  const { slice } = context;
  context.emit(KERNEL.tableFind, {
    table: slice.constant(table.address),
    ids: ids.pointer,
    n: count,
    rows: rows.pointer,
    slots: slots?.pointer ?? slice.constant(0),
  });
}

/** What a filter is asked: for how many ids, and how often each came. */
interface AskedIds {
  readonly gate: StepGate;
  readonly ids: PerLease;
  readonly trained: Register;
  readonly counts?: PerLease;
}

/** Asks the filter, if there is one, for the ids whose word from `present` on is 0. */
export function lowerAsk(
  context: LoweringContext,
  { gate: { filter }, ids, trained, counts }: AskedIds,
  present: Register,
): void {
  if (filter === undefined || counts === undefined) return;
  const { slice } = context;
  context.emit(KERNEL.filterAsk, {
    filter: slice.constant(filter.pointer),
    thresholds: slice.constant(filter.thresholds),
    ids: ids.pointer,
    n: trained,
    slots: present,
    counts: counts.pointer,
  });
}

/** Groups the first `count` unique ids of a slice by partition. */
export function lowerOwners(context: LoweringContext, ids: Register, count: Register, capacity: number): Owners {
  const order = context.perLease(capacity * 4, 'order');
  const offsets = context.perLease((PARTITIONS + 1) * 4, 'offsets');
  context.emit(KERNEL.partitionByHash, {
    uids: ids,
    n: count,
    partitions: context.slice.constant(PARTITIONS),
    order: order.pointer,
    offsets: offsets.pointer,
  });
  return { order, offsets };
}

/** Copies of what lookups of a table show, one after the other, and the addresses of them, which never change. */
export function lowerRetrieve(
  context: LoweringContext,
  table: HashTable,
  ids: Register,
  count: Register,
  capacity: number,
): Register {
  const { slice, plan, environment } = context;
  const stride = Math.ceil(table.dim / 4) * 4;
  const shown = context.perLease(capacity * stride * 4, 'shown rows');
  const addresses = context.perLease(capacity * 4, 'addresses of shown rows', { constant: true });
  for (let s = 0; s < plan.slices * context.leases; s++) {
    const [slice, lease] = [s % plan.slices, Math.floor(s / plan.slices)];
    const [at, first] = [addresses.at(slice, lease) / 4, shown.at(slice, lease)];
    for (let i = 0; i < capacity; i++) environment.views.u32[at + i] = first + i * stride * 4;
  }
  context.emit(KERNEL.tableRetrieve, {
    table: slice.constant(table.address),
    ids,
    n: count,
    out: { pointer: shown.pointer, stride: slice.constant(stride) },
    scratch: context.perSlice(LOOKUP_SCRATCH_BYTES, 'retrieve scratch').pointer,
  });
  return addresses.pointer;
}
