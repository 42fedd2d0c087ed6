/**
 * @file The ids of one table in a slice: made unique together over all features, found, and grouped by who owns them.
 *
 * embedding-ops.ts has the ops that share it.
 */
import type { Op, Tensor } from '../../graph/graph.js';
import { UNIQUE_CELL_BYTES } from '../../memory/record-layout.js';
import { LOOKUP_SCRATCH_BYTES, PARTITIONS } from '../../memory/table-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';
import type { TableConfig } from '../config/table-config.js';
import { HashTable } from '../table/hash-table.js';
import { BankedTable } from './banked-lowering.js';
import { IdBlock, type UniqueScratch } from './id-blocks.js';
import type { PerSlice } from './per-slice.js';
import type { PooledFeature } from './pooling.js';
import { type StepGate, stepGate, writeGate } from './step-gate.js';

/** What the lookups and the update of one table share in a program. */
export interface TableGroup {
  readonly table: HashTable;
  readonly ids: PerSlice & { readonly pointer: Register };
  /** Addresses of the rows of the unique ids, and of what lookups show of them, which may be the rows themselves. */
  readonly rows: { readonly base: number; readonly sliceBytes: number; readonly pointer: Register };
  readonly shown: Register;
  /** Unique ids that updates step: they come before those that are only read. */
  readonly trained: Register;
  readonly capacity: number;
  readonly features: ReadonlyMap<Tensor, PooledFeature>;
  /** Features with the same number of ids in every example. */
  readonly blocks: readonly IdBlock[];
  /** Ids that updates step, by the partition that owns them; only in programs that update a table of the host. */
  readonly owners?: Owners;
  /** Places of the ids in the index; only in programs that update a table of the session's memory. */
  readonly slots?: PerSlice;
  readonly banked?: BankedTable;
  readonly gate: StepGate;
  /** How often each unique id came; only in programs that update a table with an admission filter. */
  readonly counts?: PerSlice & { readonly pointer: Register };
}
interface Owners {
  readonly order: PerSlice & { readonly pointer: Register };
  readonly offsets: PerSlice & { readonly pointer: Register };
}
/** The lookups of a table in a program. */
export interface GroupLookups {
  /** Those that updates have a gradient of. */
  readonly trained: readonly Op[];
  readonly read: readonly Op[];
}
interface Features {
  readonly feeds: readonly (PooledFeature & { readonly lookup: Tensor })[];
  readonly blocks: readonly IdBlock[];
}

/**
 * Unique ids of all features of the table in this slice, their rows, and, for an update, their owners. Ids of lookups that
 * have a gradient are numbered first: those are stepped, and what is only read beside them stays as it is.
 */
export function lowerGroup(context: LoweringContext, config: TableConfig, lookups: GroupLookups): TableGroup {
  const { slice } = context;
  const table = HashTable.of(context.environment, config);
  const updated = lookups.trained.length > 0;
  const parts = [featuresOf(context, lookups.trained), featuresOf(context, lookups.read)] as const;
  const all = parts.flatMap(({ feeds, blocks }) => [...feeds.map(({ ragged }) => ragged), ...blocks]);
  const capacity = all.reduce((sum, part) => sum + part.capacity, 0);

  const cells = context.environment.kernels.uniqueTableCells(capacity);
  const scratch = context.perSlice(cells * UNIQUE_CELL_BYTES, 'unique table');
  // It is read before it is written: here that costs less than in the first step, where a page would be mapped twice.
  context.environment.views.u8.fill(0, scratch.base, scratch.base + scratch.sliceBytes * context.plan.slices);
  const generationCell = context.perSlice(64, 'generation');
  const ids = context.perSlice(capacity * 8, 'unique ids');
  const rows = context.perSlice(capacity * 4, 'rows');
  const generation = slice.each();
  const emptied = { cell: generationCell.pointer, table: scratch.pointer, cells: slice.constant(cells) };
  context.emit(KERNEL.advanceGeneration, emptied, generation);

  const mask = slice.constant(cells - 1);
  const uniqueScratch = { table: scratch.pointer, mask, generation, ids: ids.pointer, capacity };
  const trained = lowerUnique(context, parts[0], uniqueScratch, slice.constant(0));
  const count = lowerUnique(context, parts[1], uniqueScratch, trained);
  const features = new Map(parts.flatMap(({ feeds }) => feeds.map(({ lookup, ...feature }) => [lookup, feature])));
  const blocks = parts.flatMap((part) => part.blocks);
  const gate = updated ? stepGate(context, config.name, table.gate) : {};
  const counts = gate.filter && lowerCounts(context, trained, capacity, parts[0]);
  const group = { table, ids, rows, trained, capacity, features, blocks, gate, ...(counts && { counts }) };
  if (BankedTable.needed(context, table)) {
    const banked = new BankedTable(context, table, capacity, writeGate(context, gate, capacity));
    const readers = lowerOwners(context, ids.pointer, count, capacity);
    const [order, offsets] = [readers.order.pointer, readers.offsets.pointer];
    const present = banked.find({ ids: ids.pointer, order, offsets, rows: rows.pointer });
    lowerAsk(context, group, present);
    const apart = updated && lookups.read.length > 0;
    const owners = apart ? lowerOwners(context, ids.pointer, trained, capacity) : readers;
    return { ...group, shown: rows.pointer, owners, banked };
  }
  const slots = updated && !table.isAway ? context.perSlice(capacity * 4, 'slots') : undefined;
  context.emit(KERNEL.tableFind, {
    table: slice.constant(table.address),
    ids: ids.pointer,
    n: count,
    rows: rows.pointer,
    slots: slots?.pointer ?? slice.constant(0),
  });
  if (slots !== undefined) lowerAsk(context, group, slots.pointer);
  const shown = table.plan.plain ? rows.pointer : lowerRetrieve(context, table, ids.pointer, count, capacity);
  if (slots === undefined) return { ...group, shown };
  return { ...group, shown, owners: lowerOwners(context, ids.pointer, trained, capacity), slots };
}

/** Where the ids of lookups are: ragged feeds, with room for which unique id each is, and blocks of columns. */
function featuresOf(context: LoweringContext, lookups: readonly Op[]): Features {
  for (const { inputs } of lookups) {
    for (const input of inputs[0]!.op.inputs) context.lower(input.op);
    context.lower(inputs[0]!.op);
  }
  const feeds = lookups
    .filter(({ inputs }) => inputs[0]!.spec.ragged)
    .map(({ inputs, output, name }) => {
      const ragged = context.ragged(inputs[0]!);
      const inverse = context.perSlice(ragged.capacity * 4, `inverse ${name}`).pointer;
      return { lookup: output, ragged, inverse };
    });
  return { feeds, blocks: IdBlock.of(context, lookups) };
}

/** Adds ids to the unique ones, of which there are `count`; the register of the new count. */
function lowerUnique(
  context: LoweringContext,
  { feeds, blocks }: Features,
  scratch: UniqueScratch,
  count: Register,
): Register {
  const { table, mask: tableMask, generation, ids: uids } = scratch;
  let last = count;
  for (const { ragged, inverse } of feeds) {
    const total = context.slice.each();
    const { values, count: n } = ragged;
    context.emit(KERNEL.uniqueI64, { ids: values, n, table, tableMask, generation, base: last, uids, inverse }, total);
    last = total;
  }
  for (const block of blocks) last = block.unique(scratch, last);
  return last;
}

/** Counts how often each of the first `count` unique ids of a slice came in these features. */
function lowerCounts(
  context: LoweringContext,
  count: Register,
  capacity: number,
  { feeds, blocks }: Features,
): PerSlice & { readonly pointer: Register } {
  const counts = context.perSlice(capacity * 4, 'counts');
  const one = context.slice.constant(1);
  context.emit(KERNEL.zeroRowsF32, { dst: { pointer: counts.pointer, stride: one }, rows: count, cols: one });
  for (const { inverse, ragged } of feeds) {
    context.emit(KERNEL.countInverseU32, { inverse, n: ragged.count, counts: counts.pointer });
  }
  for (const block of blocks) block.count(counts.pointer);
  return counts;
}

/** Asks the filter, if there is one, for the ids whose word from `present` on is 0. */
function lowerAsk(
  context: LoweringContext,
  { gate: { filter }, ids, trained, counts }: Pick<TableGroup, 'gate' | 'ids' | 'trained' | 'counts'>,
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
function lowerOwners(context: LoweringContext, ids: Register, count: Register, capacity: number): Owners {
  const order = context.perSlice(capacity * 4, 'order');
  const offsets = context.perSlice((PARTITIONS + 1) * 4, 'offsets');
  context.emit(KERNEL.partitionByHash, {
    uids: ids,
    n: count,
    partitions: context.slice.constant(PARTITIONS),
    order: order.pointer,
    offsets: offsets.pointer,
  });
  return { order, offsets };
}

/** What lookups of a quantizing table show, one after the other; returns the addresses of them, which never change. */
function lowerRetrieve(
  context: LoweringContext,
  table: HashTable,
  ids: Register,
  count: Register,
  capacity: number,
): Register {
  const { slice, plan, environment } = context;
  const stride = Math.ceil(table.dim / 4) * 4;
  const shown = context.perSlice(capacity * stride * 4, 'shown rows');
  const addresses = context.perSlice(capacity * 4, 'addresses of shown rows');
  for (let s = 0; s < plan.slices; s++) {
    const at = (addresses.base + s * addresses.sliceBytes) / 4;
    const first = shown.base + s * shown.sliceBytes;
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
