/**
 * @file The ids of one table in a slice: made unique together over all features, found, and grouped by who owns them.
 *
 * embedding-ops.ts has the ops that share it.
 */
import { misfit, type Op, type Tensor } from '../../graph/graph.js';
import { UNIQUE_CELL_BYTES } from '../../memory/record-layout.js';
import { PARTITIONS } from '../../memory/table-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LeasedBlocks, LoweringContext, PerLease } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';
import type { TableConfig } from '../config/table-config.js';
import { HashTable } from '../table/hash-table.js';
import { BankedTable } from './banked-lowering.js';
import { lowerAsk, lowerFind, lowerOwners, lowerRetrieve, type Owners } from './found-rows.js';
import { IdBlock, type UniqueScratch } from './id-blocks.js';
import type { PooledFeature } from './pooling.js';
import { RoutedTable } from './routed-table.js';
import { type StepGate, stepGate, writeGate } from './step-gate.js';

/** What the lookups and the update of one table share in a program. */
export interface TableGroup {
  readonly table: HashTable;
  readonly ids: PerLease;
  /** Addresses of the rows of the unique ids, and of what lookups show of them, which may be the rows themselves. */
  readonly rows: PerLease;
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
  readonly slots?: PerLease;
  readonly banked?: BankedTable;
  /** In a step that somebody else serves. */
  readonly leased?: LeasedBlocks;
  /** In such a step, of a table whose rows are where the program runs. */
  readonly routed?: RoutedTable;
  readonly gate: StepGate;
  /** How often each unique id came; in programs that update a table with a filter, or that somebody else serves. */
  readonly counts?: PerLease;
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
 * Unique ids of all features of the table in this slice, their rows, and, for an update, their owners. Ids of lookups
 * that have a gradient are numbered first: those are stepped, and what is only read beside them stays as it is.
 *
 * A step in one piece reads rows where they are. One that is cut reads copies, and finds the rows when it steps them.
 */
export function lowerGroup(context: LoweringContext, config: TableConfig, lookups: GroupLookups): TableGroup {
  const table = HashTable.of(context.environment, config);
  const updated = lookups.trained.length > 0;
  const gate = updated ? stepGate(context, config.name, table.gate) : {};
  const { count, ...unique } = context.inPart('ids', () => lowerIds(context, lookups, gate));
  const { ids, trained, capacity } = unique;
  const rows = context.perLease(capacity * 4, 'rows');
  const group = { table, rows, gate, ...unique };
  const owners = () => context.inPart('ids', () => lowerOwners(context, ids.pointer, trained, capacity));
  if (BankedTable.needed(context, table)) return lowerBanked(context, group, count, lookups);
  if (context.cut !== undefined) {
    if (table.isAway)
      throw misfit(config.name, 'its rows are in the memory of a device: a cut step reads tables of the host');
    if (context.cut.isServed) return lowerRouted(context, group, count, lookups);
    const shown = context.inPart('pull', () => lowerRetrieve(context, table, ids.pointer, count, capacity));
    return { ...group, shown, ...(updated && { owners: owners() }) };
  }
  const slots = updated && !table.isAway ? context.perLease(capacity * 4, 'slots') : undefined;
  lowerFind(context, group, count, slots);
  if (slots !== undefined) lowerAsk(context, group, slots.pointer);
  const { plain } = table.plan;
  const shown = plain ? rows.pointer : lowerRetrieve(context, table, ids.pointer, count, capacity);
  return slots === undefined ? { ...group, shown } : { ...group, shown, owners: owners(), slots };
}

/** The unique ids of a slice: those that are stepped, then those that are only read. */
function lowerIds(context: LoweringContext, lookups: GroupLookups, gate: StepGate) {
  const { slice } = context;
  const parts = [featuresOf(context, lookups.trained), featuresOf(context, lookups.read)] as const;
  const all = parts.flatMap(({ feeds, blocks }) => [...feeds.map(({ ragged }) => ragged), ...blocks]);
  const capacity = all.reduce((sum, part) => sum + part.capacity, 0);

  const cells = context.environment.kernels.uniqueTableCells(capacity);
  const scratch = context.perSlice(cells * UNIQUE_CELL_BYTES, 'unique table');
  // It is read before it is written: here that costs less than in the first step, where a page would be mapped twice.
  context.environment.views.u8.fill(0, scratch.base, scratch.base + scratch.sliceBytes * context.plan.slices);
  const generationCell = context.perSlice(64, 'generation');
  const ids = context.perLease(capacity * 8, 'unique ids');
  const generation = slice.each();
  const emptied = { cell: generationCell.pointer, table: scratch.pointer, cells: slice.constant(cells) };
  context.emit(KERNEL.advanceGeneration, emptied, generation);

  const mask = slice.constant(cells - 1);
  const uniqueScratch = { table: scratch.pointer, mask, generation, ids: ids.pointer, capacity };
  const trained = lowerUnique(context, parts[0], uniqueScratch, slice.constant(0));
  const count = lowerUnique(context, parts[1], uniqueScratch, trained);
  const features = new Map(parts.flatMap(({ feeds }) => feeds.map(({ lookup, ...feature }) => [lookup, feature])));
  const blocks = parts.flatMap((part) => part.blocks);
  const isAsked = gate.filter !== undefined || (context.cut?.isServed && lookups.trained.length > 0);
  const counts = isAsked && lowerCounts(context, trained, capacity, parts[0]);
  return { ids, trained, count, capacity, features, blocks, ...(counts && { counts }) };
}

/** Of rows that come from several memories nobody else sees blocks. */
const UNSEEN = { routed: undefined, times: undefined };

/** A table in other memories: rows are copied here in any case. */
function lowerBanked(
  context: LoweringContext,
  group: Omit<TableGroup, 'shown'>,
  count: Register,
  lookups: GroupLookups,
): TableGroup {
  const { table, ids, rows, trained, capacity, gate } = group;
  const banked = new BankedTable(context, table, capacity, writeGate(context, gate, capacity));
  const owners = (n: Register) => context.inPart('ids', () => lowerOwners(context, ids.pointer, n, capacity));
  const readers = owners(count);
  const [order, offsets] = [readers.order.pointer, readers.offsets.pointer];
  const read = { ids: ids.pointer, order, offsets };
  const present = context.inPart('pull', () => banked.find({ ...read, rows: rows.pointer }));
  if (context.cut === undefined) lowerAsk(context, group, present);
  // What had no row when it was read may have one when it is stepped: a cut step asks then.
  else if (gate.filter !== undefined) {
    const again = context.perSlice(capacity * 4, 'rows again');
    context.inPart('push', () => lowerAsk(context, group, banked.find({ ...read, rows: again.pointer })));
  }
  const apart = lookups.trained.length > 0 && lookups.read.length > 0;
  const leased = context.cut?.isServed
    ? {
        name: table.name,
        dim: table.dim,
        stride: banked.rowFloats,
        capacity: capacity * context.plan.slices,
        ...UNSEEN,
      }
    : undefined;
  if (leased !== undefined) context.leased.push(leased);
  return {
    ...group,
    shown: rows.pointer,
    owners: apart ? owners(trained) : readers,
    banked,
    ...(leased && { leased }),
  };
}

/** A table whose rows somebody else brings: the ids of all slices, each once. */
function lowerRouted(
  context: LoweringContext,
  group: Omit<TableGroup, 'shown'>,
  count: Register,
  lookups: GroupLookups,
): TableGroup {
  const { table, ids, trained, capacity, counts } = group;
  const owners = (n: Register) => context.inPart('ids', () => lowerOwners(context, ids.pointer, n, capacity));
  const all = owners(count);
  const stepped = lookups.read.length === 0 ? all : owners(trained);
  const none = lookups.trained.length === 0 ? context.alloc(64, 'no ids') : undefined;
  const routed = new RoutedTable(context, table, {
    ...all,
    ids,
    count,
    capacity,
    counts,
    trained: (slice, lease) => none ?? stepped.offsets.at(slice, lease) + PARTITIONS * 4,
  });
  return { ...group, shown: routed.shown, leased: routed.leased, routed, owners: stepped };
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
      const inverse = context.perLease(ragged.capacity * 4, `inverse ${name}`).pointer;
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
): PerLease {
  const counts = context.perLease(capacity * 4, 'counts');
  const one = context.slice.constant(1);
  context.emit(KERNEL.zeroRowsF32, { dst: { pointer: counts.pointer, stride: one }, rows: count, cols: one });
  for (const { inverse, ragged } of feeds) {
    context.emit(KERNEL.countInverseU32, { inverse, n: ragged.count, counts: counts.pointer });
  }
  for (const block of blocks) block.count(counts.pointer);
  return counts;
}
